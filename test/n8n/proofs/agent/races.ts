import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { randomFrom } from '../../../helpers/flakyProxy.ts';
import type { Customer, Stage } from '../../stage.ts';
import { withThinking, type Way } from './thinking.ts';

const SEED = Number(process.env.CHAOS_SEED ?? randomInt(1_000_000));
const RACES = 50;
/** As many at once as n8n serves without a queue. */
const AT_ONCE = 10;
const THINKS_MS = 400;

interface Said {
  direction: string;
  sender: { type: string };
  text: string;
}

/** One customer, and what races with the answers to them. */
interface Race {
  readonly customer: Customer;
  /** A person took over: nothing is sent from then on. */
  readonly isTakenOver: boolean;
}

/**
 * While workflows think for random times, customers write more and people take over at random
 * moments.
 */
export function provesRaces(stage: () => Stage): void {
  describe(`${RACES} races of answers with people and newer messages (seed ${SEED})`, () => {
    const thinking = withThinking(stage);
    const random = randomFrom(SEED);
    const moment = () => pause(random() * 2 * THINKS_MS);
    const api = () => stage().service.api;

    const race = async (number: number): Promise<Race> => {
      const customer = await stage().customerWrites(`${number}.1`);
      const more = Math.floor(random() * 3);
      for (let next = 2; next <= 1 + more; next++) {
        await pause(random() * 4 * THINKS_MS);
        await customer.write(`${number}.${next}`);
      }
      const isTakenOver = random() < 0.4;
      if (isTakenOver) {
        await pause(800 + random() * 2 * THINKS_MS);
        const path = `/api/conversations/${customer.conversationId}/takeover`;
        expect((await api().post(path)).status).toBe(200);
      }
      return { customer, isTakenOver };
    };
    const isOver = ({ customer }: Race) =>
      stage().until(`the turns of ${customer.conversationId} to end`, async () => {
        const turns = await thinking().turnsOf(customer);
        return turns.every(({ status }) => !['queued', 'running'].includes(status));
      });
    const read = async ({ customer }: Race) =>
      (await api().get(`/api/conversations/${customer.conversationId}/messages`)).body
        .data as Said[];

    const run = async (way: Way, count: number, from: number) => {
      const workflow = await thinking().think(way);
      thinking().mind.answerBy(async ({ chatInput }) => {
        await moment();
        return { reply: chatInput.replaceAll('\n', ' ') };
      });
      const races: Race[] = [];
      while (races.length < count) {
        const next = Math.min(AT_ONCE, count - races.length);
        const begun = Array.from({ length: next }, (_, index) => race(from + races.length + index));
        races.push(...(await Promise.all(begun)));
      }
      for (const each of races) {
        if (!each.isTakenOver) await answered(each);
        await isOver(each);
      }
      await stage().until('every execution to end', async () => {
        const { data } = await stage().n8n.api<{ data: unknown[] }>(
          'GET',
          `/executions?workflowId=${workflow.id}&status=running`,
        );
        return data.length === 0;
      });
      return await Promise.all(races.map(read));
    };
    const answered = (each: Race) =>
      stage().until(
        `the last message of ${each.customer.conversationId} to be answered`,
        async () => (await read(each)).at(-1)!.direction === 'outbound',
      );

    it.each([
      ['last node', 0],
      ['operations', RACES / 2],
    ] as const)(
      'by the %s: no reply is stale, none is lost, none comes twice',
      async (way, from) => {
        const threads = await run(way, RACES / 2, from);
        const figures = { replies: 0, takenOver: 0, together: 0 };
        for (const thread of threads) {
          let unanswered: string[] = [];
          for (const { direction, text } of thread) {
            if (direction === 'inbound') unanswered.push(text);
            else {
              // Each reply answers everything since the one before it, and nothing else.
              expect(text).toBe(unanswered.join(' '));
              figures.replies += 1;
              if (unanswered.length > 1) figures.together += 1;
              unanswered = [];
            }
          }
          if (unanswered.length > 0) figures.takenOver += 1;
        }
        console.log(`By the ${way}, ${threads.length} races: ${JSON.stringify(figures)}`);
      },
    );
  });
}
