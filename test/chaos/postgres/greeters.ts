import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiClient, type ApiClient } from '../../helpers/apiClient.ts';

/** Customers who greet once and wait: the agent answers, and nobody else does. */
export interface Greeters {
  /** The conversations whose greeting was acknowledged. */
  readonly conversations: readonly string[];
  stop(): Promise<void>;
}

/** At the same time. */
const GREETERS = 4;
const PAUSE_MS = 400;
const AGAIN_MS = 50;
const PATIENCE_MS = 5_000;

/** @param urls of processes that share the work: each call goes to the next one */
export async function startGreeters(urls: readonly string[]): Promise<Greeters> {
  const conversations: string[] = [];
  let calls = 0;
  let stopping = false;
  const api = (token: string | null): ApiClient => apiClient(urls[calls++ % urls.length]!, token);
  /** Repeats a call until its answer has this status. Only a 503 or no answer is repeated. */
  const insist = async (status: number, token: string | null, path: string, body: unknown) => {
    for (;;) {
      const answer = await Promise.race([
        api(token)
          .post(path, body)
          .catch(() => null),
        sleep(PATIENCE_MS, null),
      ]);
      if (answer?.status === status) return answer.body;
      if (answer !== null && answer.status !== 503)
        throw new Error(
          `${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`,
        );
      await sleep(AGAIN_MS);
    }
  };
  const greet = async () => {
    while (!stopping) {
      const { token } = await insist(201, null, '/api/chat/sessions', {});
      const { conversation_id: id } = await insist(202, token, '/api/chat/messages', {
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
