import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExecutionHost, type RestingExecution } from '../helpers/restingExecution.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { bodyOf, clientsOf, insist } from './insist.ts';

/** Executions that ask, and people who answer, through every crash. */
export interface Waiters {
  /** Every execution that was answered, with what it must go on with. */
  readonly answered: ReadonlyMap<RestingExecution, string>;
  /**
   * Ends once every question asked so far is answered, so that the ledger is whole. @throws what
   * was unexpected in an answer
   */
  stop(): Promise<void>;
  /** Waits until every execution has gone on. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const LOOPS = 6;
const PAUSE_MS = 150;
const SETTLED_MS = 300_000;

/**
 * Half of the loops ask a customer, half the team. A question, message or decision is sent again
 * until the service answers. n8n answers 409 now and then, and sometimes dies while it collects.
 * @param urls of processes that share the work: each call goes to the next one
 */
export async function startWaiters(
  urls: readonly string[],
  apiKey: string,
  random: () => number,
): Promise<Waiters> {
  const as = clientsOf(urls);
  const api = () => as(apiKey);
  const host = await startExecutionHost(api);
  const answered = new Map<RestingExecution, string>();
  let stopping = false;

  const newExecution = (): RestingExecution => {
    const execution = host.execution();
    const kind = random();
    if (kind < 0.2) execution.answer(409);
    else if (kind < 0.4) execution.answer('die');
    else if (kind < 0.5) execution.answer(200);
    return execution;
  };
  const openWait = async (fields: Record<string, unknown>): Promise<string> => {
    const key = { 'idempotency-key': randomUUID() };
    const opened = await insist(() => api().post('/api/waits', fields, key));
    return bodyOf(opened, 201, 'a wait').id as string;
  };

  const askTeam = async () => {
    const execution = newExecution();
    const id = await openWait({ kind: 'decision', message: 'Go?', resume_url: execution.url });
    const note = randomUUID();
    const body = { approved: true, note };
    const decided = await insist(() => api().post(`/api/waits/${id}/decide`, body));
    // 409: an earlier attempt decided it, and the service died before it could answer.
    if (decided.status !== 409) bodyOf(decided, 200, 'a decision');
    answered.set(execution, note);
  };

  const startTalk = async () => {
    const session = await insist(() => as(null).post('/api/chat/sessions', {}));
    const { token } = bodyOf(session, 201, 'a chat');
    const write = async (text: string): Promise<string> => {
      const message = { text, client_message_id: text };
      const written = await insist(() => as(token).post('/api/chat/messages', message));
      return bodyOf(written, 202, 'a message').conversation_id as string;
    };
    return { write, conversationId: await write('Hello') };
  };
  type Talk = Awaited<ReturnType<typeof startTalk>>;

  const askCustomer = async ({ write, conversationId }: Talk) => {
    const execution = newExecution();
    await openWait({
      kind: 'reply',
      conversation_id: conversationId,
      message: 'Your order number?',
      resume_url: execution.url,
    });
    const text = `Order ${randomUUID()}`;
    await write(text);
    answered.set(execution, text);
    // This question must have been answered before the next one is asked.
    await untilItGoesOn(execution);
  };

  const untilItGoesOn = (execution: RestingExecution) =>
    waitFor('an execution to go on', () => execution.wentOnWith.length > 0, {
      timeoutMs: SETTLED_MS,
    });

  const loop = async (index: number) => {
    const talk = index % 2 === 0 ? await startTalk() : null;
    while (!stopping) {
      if (talk === null) await askTeam();
      else await askCustomer(talk);
      await sleep(PAUSE_MS * random());
    }
  };
  const running = Promise.all(Array.from({ length: LOOPS }, (_, index) => loop(index)));
  running.catch(() => {});
  return {
    answered,
    async stop() {
      stopping = true;
      await running;
    },
    async settle() {
      await Promise.all([...answered.keys()].map(untilItGoesOn)).catch(async (error: Error) => {
        const resting = [...answered.keys()].filter(({ wentOnWith }) => wentOnWith.length === 0);
        const ids = [...new Set(resting.flatMap(({ calls }) => calls))];
        const waits = await Promise.all(
          ids.map((id) => insist(() => api().get(`/api/waits/${id}`))),
        );
        throw new Error(
          `${resting.length} executions rest: ${JSON.stringify(waits.map(({ body }) => body))}`,
          { cause: error },
        );
      });
    },
    close: () => host.close(),
  };
}

/** What is wrong, in words: answers that were lost, changed or given twice. */
export const waitFaults = ({ answered }: Pick<Waiters, 'answered'>): string[] =>
  [...answered].flatMap(([{ wentOnWith }, given]) => {
    const got = wentOnWith.map(({ answer, decision }) => answer?.text ?? decision?.note);
    return got.length === 1 && got[0] === given
      ? []
      : [`${given} went to an execution as ${JSON.stringify(got)}`];
  });
