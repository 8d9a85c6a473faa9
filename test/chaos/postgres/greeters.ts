import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiClient, type ApiClient } from '../../helpers/apiClient.ts';

/** Customers who only greet: the agent answers each time, and nobody else does. */
export interface Greeters {
  /** How many greetings each of them has been told are stored, by conversation. */
  readonly greetings: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const GREETERS = 4;
const PAUSE_MS = 400;
const AGAIN_MS = 50;
const PATIENCE_MS = 5_000;

/** @param urls of processes that share the work: each call goes to the next one */
export async function startGreeters(urls: readonly string[]): Promise<Greeters> {
  const greetings = new Map<string, number>();
  let calls = 0;
  let stopping = false;
  const api = (token: string | null): ApiClient => apiClient(urls[calls++ % urls.length]!, token);
  /** Until there is an answer of this status: no answer, and a 503, are asked again. */
  const insist = async (status: number, token: string | null, path: string, body: unknown) => {
    for (;;) {
      const answer = await Promise.race([api(token).post(path, body).catch(() => null), sleep(PATIENCE_MS, null)]);
      if (answer?.status === status) return answer.body;
      if (answer !== null && answer.status !== 503) throw new Error(`${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
      await sleep(AGAIN_MS);
    }
  };
  const greet = async () => {
    const { token } = await insist(201, null, '/api/chat/sessions', {});
    while (!stopping) {
      const { conversation_id: id } = await insist(202, token, '/api/chat/messages', { text: 'Hello', client_message_id: randomUUID() });
      greetings.set(id, (greetings.get(id) ?? 0) + 1);
      await sleep(PAUSE_MS);
    }
  };
  const running = Promise.all(Array.from({ length: GREETERS }, greet));
  running.catch(() => {});
  return {
    greetings,
    async stop() {
      stopping = true;
      await running;
    },
  };
}
