import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf, clientsOf, insist } from '../insist.ts';

/** Customers who greet once and wait: the agent answers, and nobody else does. */
export interface Greeters {
  /** The conversations whose greeting was acknowledged. */
  readonly conversations: readonly string[];
  stop(): Promise<void>;
}

/** How many customers greet at the same time. */
const GREETERS = 4;
const PAUSE_MS = 400;

/** @param urls of processes that share the work: each call goes to the next one */
export async function startGreeters(urls: readonly string[]): Promise<Greeters> {
  const conversations: string[] = [];
  const as = clientsOf(urls);
  let stopping = false;
  const post = async (status: number, token: string | null, path: string, body: unknown) =>
    bodyOf(await insist(() => as(token).post(path, body)), status, path);
  const greet = async () => {
    while (!stopping) {
      const { token } = await post(201, null, '/api/chat/sessions', {});
      const { conversation_id: id } = await post(202, token, '/api/chat/messages', {
        text: 'Hello',
        client_message_id: randomUUID(),
      });
      conversations.push(id as string);
      await sleep(PAUSE_MS);
    }
  };
  const running = Promise.all(Array.from({ length: GREETERS }, greet));
  running.catch(() => {});
  return {
    conversations,
    async stop() {
      stopping = true;
      await running;
    },
  };
}
