import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { isFinished, type ToolCall } from '../domain/toolCall.ts';

/**
 * Begins a tool call and waits until it has ended.
 * @returns false when it had not ended in time
 */
export type FollowToolCall = (begin: () => Promise<ToolCall>, timeoutMs: number) => Promise<{ call: ToolCall; ended: boolean }>;

/** @param stopping ends all waiting */
export const followToolCalls = (store: ServiceStore, { store: port }: Pick<Deps, 'store'>, stopping: AbortSignal): FollowToolCall =>
  async (begin, timeoutMs) => {
    const given = new AbortController();
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs), given.signal]);
    const changes = store.changes({ signal }); // counts from here on: the call cannot end unseen
    let call = await begin();
    const read = async () => (await port.transaction((tx) => tx.toolCalls.peek(call.id))) ?? call;
    try {
      for await (const change of changes) {
        if ('gap' in change) call = await read();
        else if (change.collection === 'toolCalls' && change.id === call.id && change.document) call = change.document as ToolCall;
        if (isFinished(call)) return { call, ended: true };
      }
    } finally {
      given.abort();
    }
    return { call, ended: false };
  };
