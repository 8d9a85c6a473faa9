// A thousand turns across many conversations at once, each answered after a random time, by HTTP or
// by the API, while a person takes over or the customer writes more. Afterwards the ledger of what the
// workflow was asked and answered is held against the threads.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { apiClient } from '../../../helpers/apiClient.ts';
import { randomFrom } from '../../../helpers/flakyProxy.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  accepts,
  says,
  startWorkflowStage,
  type Json,
  type WorkflowStage,
} from './workflowStage.ts';

const SEED = Number(process.env.RACES_SEED ?? randomInt(1_000_000));
const TURNS = 1000;
const CONVERSATIONS = 50;
/** The agent hands over after thirty replies in ten minutes. */
const MAX_ROUNDS = 26;
const LONGEST_MS = 60;

function choicesFrom(seed: number) {
  const random = randomFrom(seed);
  return {
    ms: () => Math.floor(random() * LONGEST_MS),
    oneOf: <const T>(...choices: readonly T[]): T =>
      choices[Math.floor(random() * choices.length)]!,
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Asked {
  readonly turnId: string;
  readonly conversationId: string;
  /** Ids of the customer's messages. */
  readonly messages: readonly string[];
  readonly by: 'http' | 'api';
  /** Whether the API took the answer; null for one by HTTP. */
  taken: boolean | null;
}

let stage: WorkflowStage;
beforeAll(async () => {
  stage = await startWorkflowStage({ env: { AGENT_QUIET_MS: '10' } });
});
afterAll(() => stage?.close());

it(`sends no stale answer, loses none and sends none twice (seed ${SEED})`, async () => {
  const asked: Asked[] = [];
  const random = choicesFrom(SEED);
  const key = stage.service.apiKey;
  const answering: Promise<unknown>[] = [];
  stage.workflow.answer((res, turn) => {
    const entry: Asked = {
      turnId: turn.turn_id,
      conversationId: turn.conversation_id,
      messages: turn.messages.map(({ id }: Json) => id),
      by: random.oneOf('http', 'api'),
      taken: null,
    };
    asked.push(entry);
    const ms = random.ms();
    if (entry.by === 'http') return void setTimeout(() => says(entry.turnId)(res, turn), ms);
    accepts(res, turn);
    answering.push(
      pause(ms).then(async () => {
        const path = `/api/agent-turns/${entry.turnId}/replies`;
        const { status } = await apiClient(stage.service.url, key).post(path, {
          text: entry.turnId,
        });
        entry.taken = status === 201;
      }),
    );
  });

  const stories = await Promise.all(
    Array.from({ length: CONVERSATIONS }, (_, index) =>
      play(choicesFrom(SEED + index + 1), () => asked.length >= TURNS),
    ),
  );
  await Promise.all(answering);
  expect(asked.length).toBeGreaterThanOrEqual(TURNS);

  const turns = new Map<string, Json>();
  for (const { id } of stories)
    for (const turn of (await stage.api.get(`/api/agent-turns?limit=200&conversation_id=${id}`))
      .body.data)
      turns.set(turn.turn_id, turn);
  for (const story of stories) await holdAgainst(story, asked, turns);
  const refused = asked.filter(({ turnId }) => turns.get(turnId).status === 'superseded').length;
  expect(refused).toBeGreaterThan(TURNS / 10);
}, 300_000);

interface Story {
  readonly id: string;
  /** Message counts between which a person was in control. */
  readonly human: readonly { readonly from: number; readonly to: number }[];
}

/** A customer who writes, and what gets in between, until there were enough turns. */
async function play(
  random: ReturnType<typeof choicesFrom>,
  isEnough: () => boolean,
): Promise<Story> {
  await pause(random.ms());
  const talk = await stage.talk('message');
  const human: { from: number; to: number }[] = [];
  for (let round = 0; round < MAX_ROUNDS && !isEnough(); round += 1) {
    if (round > 0) await talk.write('message');
    await pause(random.ms());
    const between = random.oneOf('nothing', 'message', 'messages', 'person');
    if (between === 'message') await talk.write('more');
    if (between === 'messages') await Promise.all([talk.write('more'), talk.write('and more')]);
    if (between === 'person') {
      const { message_count: from } = await talk.act('takeover');
      await pause(random.ms());
      const { message_count: to } = await talk.act('handback');
      human.push({ from, to });
    }
    await waitFor(
      `the answer in ${talk.id} (RACES_SEED=${SEED})`,
      async () => {
        const { body } = await stage.api.get(`/api/conversations/${talk.id}?messages=1`);
        return body.status === 'ai_active' && body.messages[0].sender.type === 'agent';
      },
      { everyMs: 30, timeoutMs: 60_000 },
    );
  }
  return { id: talk.id, human };
}

/** Holds a thread against what the workflow was asked and answered. */
async function holdAgainst({ id, human }: Story, asked: Asked[], turns: Map<string, Json>) {
  const { messages } = (await stage.api.get(`/api/conversations/${id}?messages=200`)).body;
  const own = new Map(
    asked.filter(({ conversationId }) => conversationId === id).map((each) => [each.turnId, each]),
  );
  let waiting: string[] = [];
  const sent = new Set<string>();
  messages.forEach((message: Json, index: number) => {
    if (message.sender.type === 'customer') return void waiting.push(message.id);
    const turn = own.get(message.text);
    const place = { seed: SEED, conversation: id, number: index + 1, turn: message.text };
    // Neither stale, nor about less than what was written before it.
    expect({ ...place, answers: turn?.messages }).toEqual({ ...place, answers: waiting });
    expect({ ...place, isTwice: sent.has(message.text) }).toEqual({ ...place, isTwice: false });
    const isOverPerson = human.some(({ from, to }) => index >= from && index < to);
    expect({ ...place, isOverPerson }).toEqual({ ...place, isOverPerson: false });
    sent.add(message.text);
    waiting = [];
  });
  expect({ seed: SEED, conversation: id, lost: waiting }).toEqual({
    seed: SEED,
    conversation: id,
    lost: [],
  });
  for (const { turnId, by, taken } of own.values()) {
    const isSent = sent.has(turnId);
    const { status, messages_sent: count } = turns.get(turnId);
    expect({ seed: SEED, turnId, status, count }).toEqual({
      seed: SEED,
      turnId,
      status: isSent ? 'answered' : 'superseded',
      count: isSent ? 1 : 0,
    });
    if (by === 'api')
      expect({ seed: SEED, turnId, taken }).toEqual({ seed: SEED, turnId, taken: isSent });
  }
}
