import * as agent from './agent.ts';
import * as channels from './channels.ts';
import * as chat from './chat.ts';
import * as conversations from './conversations.ts';
import * as hooks from './hooks.ts';
import * as payments from './payments.ts';
import * as toolCalls from './toolCalls.ts';
import * as tools from './tools.ts';
import type { Operation } from './operation.ts';

/** The id of an operation is the name of its constant. */
export type NamedOperation = Operation & { readonly id: string };

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'answer' in value && 'path' in value;

/** Every endpoint of the API that answers JSON. */
export const operations: readonly NamedOperation[] = [
  hooks,
  conversations,
  payments,
  channels,
  tools,
  toolCalls,
  agent,
  chat,
]
  .flatMap((module) => Object.entries<unknown>(module))
  .flatMap(([id, value]) => (isOperation(value) ? [{ id, ...value }] : []));
