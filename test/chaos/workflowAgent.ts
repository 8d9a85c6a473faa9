import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer } from '../helpers/apiClient.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { startAnsweringWorkflow, TURN_TIMEOUT_S } from './answeringWorkflow.ts';
import { bodyOf, clientsOf, insist } from './insist.ts';
import type { MadeWorkspace } from './makeWorkspace.ts';
import { TurnLedger } from './turnLedger.ts';

/** A workflow that is the agent, customers who write, and people who take over, through every crash. */
export interface WorkflowAgent {
  readonly ledger: TurnLedger;
  /** Ends once every conversation is answered, so that the ledger is whole. */
  stop(): Promise<void>;
  /** Waits until every turn has ended, then checks the threads against the ledger. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const LOOPS = 12;
/** Messages of one customer. After thirty replies in ten minutes the agent would hand over. */
const MESSAGES = 10;
const PAUSE_MS = 300;
const AGAIN_MS = 50;
const IMPATIENT_SHARE = 0.3;
const TAKE_OVER_SHARE = 0.15;
const SETTLED_MS = 300_000;
const OWNER = {
  instance_id: 'n8n-1',
  workflow_id: 'wf-1',
  workflow_name: 'Support agent',
  node_id: 'node-1',
  host: 'n8n.example.com',
};

/**
 * Publishes the workflow. Customers write again once they are answered, or before. A conversation
 * that a person has is handed back to the agent.
 * @param urls of processes that share the work: each call goes to the next one
 */
export async function startWorkflowAgent(
  urls: readonly string[],
  { slug, key }: MadeWorkspace,
  random: () => number,
): Promise<WorkflowAgent> {
  const as = clientsOf(urls);
  let stopping = false;
  const api = () => as(key);
  const get = (path: string): Promise<ApiAnswer> => insist(() => api().get(path));
  const post = (path: string): Promise<ApiAnswer> => insist(() => api().post(path));
  const pause = () => sleep(random() * PAUSE_MS);
  const ledger = new TurnLedger();

  const untilAnswered = async (conversation: string, message: string) => {
    const path = `/api/conversations/${conversation}`;
    for (;;) {
      const { status, messages } = (await get(`${path}?messages=1`)).body;
      const newest = `/api/agent-turns?limit=1&conversation_id=${conversation}`;
      const [turn] = (await get(newest)).body.data;
      const isDealtWith =
        turn?.status === 'answered' && ledger.asked.get(turn.turn_id)?.includes(message);
      if (status !== 'ai_active') await post(`${path}/handback`);
      else if (messages[0].sender.type === 'agent' || isDealtWith) return;
      await sleep(AGAIN_MS);
    }
  };

  const countFromAgent = async (path: string): Promise<number> => {
    const { messages } = (await get(`${path}?messages=200`)).body;
    return (messages as { sender: { type: string } }[]).filter(
      ({ sender }) => sender.type === 'agent',
    ).length;
  };
  /** Takes over and hands back, and checks that the agent says nothing in between. */
  const takeOver = async (conversation: string) => {
    const path = `/api/conversations/${conversation}`;
    await post(`${path}/takeover`);
    const before = await countFromAgent(path);
    await pause();
    if ((await countFromAgent(path)) !== before)
      ledger.faults.push(`${conversation}: the agent wrote after a take-over`);
    await post(`${path}/handback`);
  };

  const talk = async () => {
    const session = await insist(() => as(null).post('/api/chat/sessions', { workspace: slug }));
    const { token } = bodyOf(session, 201, 'a chat');
    let isAnswered = false;
    for (let count = 0; count < MESSAGES || !isAnswered; count += 1) {
      if (stopping && isAnswered) return;
      const body = { text: 'hello', client_message_id: randomUUID() };
      const written = await insist(() => as(token).post('/api/chat/messages', body));
      const { conversation_id: conversation, message_id: message } = bodyOf(
        written,
        202,
        'a message',
      );
      ledger.write(conversation, message);
      await pause();
      if (random() < TAKE_OVER_SHARE) await takeOver(conversation);
      isAnswered = random() >= IMPATIENT_SHARE;
      if (isAnswered) await untilAnswered(conversation, message);
    }
  };
  const loop = async () => {
    while (!stopping) await talk();
  };

  const workflow = await startAnsweringWorkflow(ledger, api, random);
  const { body } = await api().put('/api/agent/webhook', {
    endpoint: workflow.url,
    owner: OWNER,
    turn_on: true,
    timeout: TURN_TIMEOUT_S,
  });
  workflow.secret = body.secret;
  const running = Promise.all(Array.from({ length: LOOPS }, loop));
  running.catch(() => {});

  const haveAllEnded = async (): Promise<boolean> => {
    for (const status of ['queued', 'running'])
      if ((await get(`/api/agent-turns?limit=1&status=${status}`)).body.data.length > 0)
        return false;
    return true;
  };
  return {
    ledger,
    async stop() {
      stopping = true;
      await running;
    },
    async settle() {
      await waitFor('every turn to have ended', haveAllEnded, { timeoutMs: SETTLED_MS });
      await workflow.settle();
      await ledger.check(api());
    },
    close: () => workflow.close(),
  };
}
