// A service with tools that a person decides about, and customers who ask for their calls.
import { afterEach, beforeEach, expect } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import type { ChatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV } from '../../helpers/browserless.ts';
import {
  agentSays,
  ask,
  callIn,
  makeLive,
  TOOL_TEST_ENV,
  wakeToolCalls,
  type DefinedTool,
} from '../../helpers/toolEndpoint.ts';
import { endpoint, nextName, removeTools, service, useToolService } from './toolService.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
export type Json = any;

let clockAheadMs = 0;
export const now = () => new Date(Date.now() + clockAheadMs);
export const moveClock = (ms: number) => void (clockAheadMs += ms);

/** Starts the service for the tests of a file. */
export function useApprovals(): void {
  useToolService({ env: { ...TOOL_TEST_ENV, ...MEMBER_ENV }, clock: { now } });
  beforeEach(() => endpoint.forget());
  afterEach(removeTools);
}

export interface Waiting {
  tool: DefinedTool;
  customer: ChatCustomer;
  conversationId: string;
  call: Json;
}

export const define = async (): Promise<DefinedTool> => {
  const { name, path } = nextName();
  const tool = await endpoint.define(service.api, { name, ask_before_running: true }, path);
  await makeLive(service.api, tool);
  endpoint.forget();
  return tool;
};
export const conversation = async (id: string): Promise<Json> =>
  (await service.api.get(`/api/conversations/${id}`)).body;
export const callOf = async ({ call }: Pick<Waiting, 'call'>): Promise<Json> =>
  (await service.api.get(`/api/tool-calls/${call.tool_call_id}`)).body;
export const decide = (
  { call }: Pick<Waiting, 'call'>,
  verb: 'approve' | 'reject',
  body: Json = {},
) => service.api.post(`/api/tool-calls/${call.tool_call_id}/${verb}`, body);

/** Waits until the call of a conversation has one of these statuses. */
export const untilCallIs = (conversationId: string, ...statuses: string[]) =>
  callIn(service.api, `conversation_id=${conversationId}`, ...statuses);

/** A customer asks for a call that needs approval, and is told to wait for it. */
export const requestApproval = async (given?: DefinedTool): Promise<Waiting> => {
  const tool = given ?? (await define());
  const { customer, conversationId } = await ask(service.url, tool);
  const call = await untilCallIs(conversationId, 'pending_approval');
  expect(await agentSays(customer)).toBe(SENTENCES.waitingForApproval.en);
  return { tool, customer, conversationId, call };
};

/** Moves the clock, and has the service look for calls that are due. */
export const later = async (ms: number) => {
  moveClock(ms);
  await wakeToolCalls(service.api, endpoint);
};
