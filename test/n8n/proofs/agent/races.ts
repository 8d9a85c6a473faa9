import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { randomFrom } from '../../../helpers/flakyProxy.ts';
import type { Workflow } from '../../n8nServer.ts';
import type { Customer, Stage } from '../../stage.ts';
import { wasRefused, withThinking, type Way } from './thinking.ts';

const SEED = Number(process.env.CHAOS_SEED ?? randomInt(1_000_000));
const RACES = 40;
/** As many races at once as n8n serves without a queue. */
const AT_ONCE = 10;
const THINKS_MS = 400;

interface Message {
  direction: string;
  text: string;
}

/** The customer of a race, and how it ended. */
interface Race {
  readonly customer: Customer;
  /** How many messages there were when a person took over. The agent sends none after them. */
  readonly takenOverAt: number | null;
}

/**
 * While workflows think for random times, customers write more and people take over at random
 * moments around the answer. At least one of the two happens in each race.
 */
export function provesRaces(stage: () => Stage): void {
  describe(`${RACES} races of answers with people and newer messages (seed ${SEED})`, () => {
    const thinking = withThinking(stage);
    const random = randomFrom(SEED);
    const randomMoment = () => pause(random() * 2 * THINKS_MS);
    const api = () => stage().service.api;

    const race = async (number: number): Promise<Race> => {
      const customer = await stage().customerWrites(`${number}.1`);
      const collisions = 1 + Math.floor(random() * 3);
      const isTakenOver = random() < 0.4;
      for (let nth = 1; nth <= collisions; nth++) {
        await untilThinking(customer, nth);
        await randomMoment();
        if (nth === collisions && isTakenOver)
          return { customer, takenOverAt: await takeOver(customer) };
        await customer.write(`${number}.${nth + 1}`);
      }
      return { customer, takenOverAt: null };
    };
    /** Waits until the workflow thinks about the nth turn. */
    const untilThinking = ({ conversationId }: Customer, nth: number) =>
      stage().until(`turn ${nth} of ${conversationId} to be thought about`, () => {
        const asked = thinking.server.turns.filter((turn) => turn.sessionId === conversationId);
        return asked.length >= nth;
      });
    const takeOver = async ({ conversationId }: Customer): Promise<number> => {
      const { status, body } = await api().post(`/api/conversations/${conversationId}/takeover`);
      expect(status).toBe(200);
      return body.message_count as number;
    };
    const untilTurnsEnd = ({ customer }: Race) =>
      stage().until(`the turns of ${customer.conversationId} to end`, async () => {
        const turns = await thinking.turnsOf(customer);
        return turns.every(({ status }) => !['queued', 'running'].includes(status));
      });
    const messagesOf = async ({ customer }: Race) =>
      (await api().get(`/api/conversations/${customer.conversationId}/messages`)).body
        .data as Message[];

    /** Runs races, a few at a time. @param first the number of the first one */
    const run = async (way: Way, count: number, first: number) => {
      const workflow = await thinking.publishAgent(way);
      thinking.server.answerBy(async ({ chatInput }) => {
        await randomMoment();
        return { reply: chatInput.replaceAll('\n', ' ') };
      });
      const races: Race[] = [];
      while (races.length < count) {
        const length = Math.min(AT_ONCE, count - races.length);
        const next = first + races.length;
        const begun = Array.from({ length }, (_, index) => race(next + index));
        races.push(...(await Promise.all(begun)));
      }
      for (const each of races) {
        if (each.takenOverAt === null) await untilAnswered(each);
        await untilTurnsEnd(each);
      }
      await stage().until('every execution to end', async () => {
        const { data } = await stage().n8n.api<{ data: unknown[] }>(
          'GET',
          `/executions?workflowId=${workflow.id}&status=running`,
        );
        return data.length === 0;
      });
      return { races, refusals: await countRefusals(workflow) };
    };
    const countRefusals = async ({ id }: Workflow) =>
      (await stage().n8n.executions(id)).filter(wasRefused).length;
    const untilAnswered = (each: Race) =>
      stage().until(
        `the last message of ${each.customer.conversationId} to be answered`,
        async () => (await messagesOf(each)).at(-1)!.direction === 'outbound',
      );

    it.each([
      ['its last node', 0],
      ['operations', RACES / 2],
    ] as const)('by %s: no reply is stale, none is lost, none comes twice', async (way, first) => {
      const { races, refusals } = await run(way, RACES / 2, first);
      const figures = { replies: 0, takenOver: 0, together: 0, superseded: 0, refusals };
      for (const each of races) {
        const thread = await messagesOf(each);
        const { takenOverAt } = each;
        let unanswered: string[] = [];
        for (const [index, { direction, text }] of thread.entries()) {
          if (direction === 'inbound') unanswered.push(text);
          else {
            // Each reply answers everything since the one before it, and nothing else.
            expect(text).toBe(unanswered.join(' '));
            expect(index).toBeLessThan(takenOverAt ?? thread.length);
            figures.replies += 1;
            if (unanswered.length > 1) figures.together += 1;
            unanswered = [];
          }
        }
        if (takenOverAt === null) expect(unanswered).toEqual([]);
        else figures.takenOver += 1;
        const turns = await thinking.turnsOf(each.customer);
        figures.superseded += turns.filter(({ status }) => status === 'superseded').length;
      }
      console.log(`By ${way}, ${races.length} races: ${JSON.stringify(figures)}`);
      expect(figures.takenOver).toBeGreaterThan(0);
      expect(figures.superseded).toBeGreaterThan(races.length / 5);
      if (way === 'operations') expect(refusals).toBeGreaterThan(races.length / 5);
    });
  });
}
