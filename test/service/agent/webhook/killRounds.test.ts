// Rounds of kill -9 while workflows answer, by HTTP and by the API; then the threads are compared
// with what the workflow was asked and answered. Hundreds of such kills: `npm run test:load`.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../../service/src/agent/keyword/sentences.ts';
import { chatCustomer, type ApiAnswer, type ChatCustomer } from '../../../helpers/apiClient.ts';
import { randomFrom } from '../../../helpers/flakyProxy.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  accepts,
  OWNER,
  says,
  startWorkflowServer,
  type Json,
  type WorkflowServer,
} from './workflowStage.ts';

const SEED = Number(process.env.ROUNDS_SEED ?? randomInt(1_000_000));
const ROUNDS = 2;
/** How many customers write at the same time. */
const CUSTOMERS = 8;
/** Written by one customer at most: the agent hands over after thirty replies in ten minutes. */
const MESSAGES = 20;
const MAX_ANSWER_MS = 120;
const RETRY_MS = 100;
const FAILED: string = SENTENCES.handOverAfterError.en;

const random = randomFrom(SEED);
const randomMs = () => Math.floor(random() * MAX_ANSWER_MS);
let service: ServiceProcess;
let workflow: WorkflowServer;
/** Ids of the customer's messages, by turn. */
const asked = new Map<string, readonly string[]>();
/** Whether the API took an answer, by turn. */
const taken = new Map<string, boolean>();
let isOver = false;

beforeAll(async () => {
  workflow = await startWorkflowServer();
  service = await startServiceProcess({
    env: { INSECURE_TARGETS: 'true', AGENT_QUIET_MS: '10' },
  }).catch(async (error) => {
    await workflow.close();
    throw error;
  });
  const webhook = { endpoint: workflow.url, owner: OWNER, turn_on: true, timeout: 5 };
  workflow.secret = (await service.api.put('/api/agent/webhook', webhook)).body.secret;
});
afterAll(async () => {
  await service?.close();
  await workflow?.close();
});

/** Asks again until there is an answer other than 503. */
async function insist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer !== null && (answer as Partial<ApiAnswer>).status !== 503) return answer;
    await sleep(RETRY_MS);
  }
}

it(`loses no answer and sends none twice, through ${ROUNDS} crashes (seed ${SEED})`, async () => {
  const answering: Promise<void>[] = [];
  workflow.answer((res, turn) => {
    const id: string = turn.turn_id;
    asked.set(
      id,
      turn.messages.map((message: Json) => message.id),
    );
    if (random() < 0.5) return void setTimeout(() => says(id)(res, turn), randomMs());
    accepts(res, turn);
    const path = `/api/agent-turns/${id}/replies`;
    answering.push(
      sleep(randomMs())
        .then(() => insist(() => service.api.post(path, { text: id }, { 'idempotency-key': id })))
        .then(({ status }) => void taken.set(id, status === 201)),
    );
  });
  const talking = Promise.all(Array.from({ length: CUSTOMERS }, talkOn));
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(300 + 5 * randomMs());
    if (round < ROUNDS - 1) await service.crashAndRestart();
    else await service.crashAndStartHere();
  }
  const askedBefore = asked.size;
  await waitFor('turns after the last crash', () => asked.size >= askedBefore + CUSTOMERS);
  isOver = true;
  const conversations = (await talking).flat();
  await Promise.all(answering);
  for (const id of conversations) await compareThread(id);
  expect(workflow.faults).toEqual([]);
  expect(asked.size).toBeGreaterThan(2 * ROUNDS);
}, 120_000);

/** One customer after another, each writing on once answered. @returns their conversations */
async function talkOn(): Promise<string[]> {
  const conversations: string[] = [];
  while (!isOver) {
    const customer: ChatCustomer = await insist(() => chatCustomer(service.url));
    for (let written = 0; written < MESSAGES && !(isOver && written > 0); written += 1) {
      const clientId = crypto.randomUUID();
      const { conversation_id: id } = await insist(() => customer.write('hello', clientId));
      if (written === 0) conversations.push(id);
      await untilAnswered(id);
    }
  }
  return conversations;
}

/**
 * Waits for the agent's answer. A turn whose HTTP answer was lost hands over; the team hands back.
 * On PostgreSQL the message of that hand-over can be read a moment before the new status, so the
 * customer may have written again already.
 */
async function untilAnswered(id: string): Promise<void> {
  const path = `/api/conversations/${id}`;
  for (;;) {
    const { body } = await insist(() => service.api.get(`${path}?messages=1`));
    if (body.status === 'awaiting_human') await insist(() => service.api.post(`${path}/handback`));
    else if (body.messages[0].sender.type === 'agent') return;
    await sleep(RETRY_MS);
  }
}

/** Compares a thread with what the workflow was asked and answered. */
async function compareThread(id: string): Promise<void> {
  const { messages } = (await service.api.get(`/api/conversations/${id}?messages=200`)).body;
  let waiting: string[] = [];
  const sent = new Set<string>();
  for (const { id: messageId, sender, text } of messages as Json[]) {
    if (sender.type === 'customer') {
      waiting.push(messageId);
      continue;
    }
    const place = { seed: SEED, conversation: id, text };
    if (text !== FAILED) {
      expect({ ...place, answers: asked.get(text) }).toEqual({ ...place, answers: waiting });
      expect({ ...place, isTwice: sent.has(text) }).toEqual({ ...place, isTwice: false });
      sent.add(text);
    }
    waiting = [];
  }
  expect({ seed: SEED, conversation: id, waiting }).toEqual({
    seed: SEED,
    conversation: id,
    waiting: [],
  });
  const { data } = (await service.api.get(`/api/agent-turns?limit=200&conversation_id=${id}`)).body;
  for (const { turn_id: turn, status } of data) {
    const isSent = sent.has(turn);
    expect({ turn, isAnswered: status === 'answered' }).toEqual({ turn, isAnswered: isSent });
    if (taken.has(turn)) expect({ turn, taken: taken.get(turn) }).toEqual({ turn, taken: isSent });
  }
}
