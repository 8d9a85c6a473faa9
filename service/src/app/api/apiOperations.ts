import * as agent from '../../agent/contract.ts';
import * as agentWebhook from '../../agent/webhook/publishingContract.ts';
import * as agentTurns from '../../agent/webhook/contract.ts';
import * as channels from '../../channels/contract.ts';
import * as chat from '../../channels/web_chat/contract.ts';
import * as contacts from '../../conversations/contacts/contract.ts';
import * as conversations from '../../conversations/contract.ts';
import * as members from '../../team/contract.ts';
import * as hooks from '../../deliveries/contract.ts';
import * as payments from '../../payments/contract.ts';
import * as toolCalls from '../../tools/calls/contract.ts';
import * as tools from '../../tools/contract.ts';
import * as waits from '../../waits/contract.ts';
import * as events from '../../events/contract.ts';
import type { Operation } from '../../platform/http/operation.ts';

/** The id of an operation is the name of its constant. */
export type NamedOperation = Operation & { readonly id: string };

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'answer' in value && 'path' in value;

/** Every endpoint of the API that answers JSON. */
export const operations: readonly NamedOperation[] = [
  events,
  hooks,
  conversations,
  contacts,
  members,
  payments,
  channels,
  tools,
  toolCalls,
  waits,
  agent,
  agentWebhook,
  agentTurns,
  chat,
]
  .flatMap((module) => Object.entries<unknown>(module))
  .flatMap(([id, value]) => (isOperation(value) ? [{ id, ...value }] : []));
