import type { InboundItem } from '../../domain/inbound.ts';
import type { OpenAccount, Verification, WebhookRequest } from '../channelAdapter.ts';

/** Meta's webhook: GET asks whether the address is ours, POST delivers, signed with the app's secret. */
export const verifyRequest = (_request: WebhookRequest, _account: OpenAccount): Verification => ({ type: 'refused', why: 'not built yet' });

/** Every entry, change, message and status of a body, in order. */
export const parseBody = (_body: unknown): readonly InboundItem[] => [];
