import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { randomFrom } from '../../../helpers/flakyProxy.ts';
import type { Workflow } from '../../n8nServer.ts';
import type { Customer, Stage } from '../../stage.ts';
import { withThinking, type Way } from './thinking.ts';

const SEED = Number(process.env.CHAOS_SEED ?? randomInt(1_000_000));
const RACES = 40;
/** As many at once as n8n serves without a queue. */
const AT_ONCE = 10;
const THINKS_MS = 400;

interface Said {
  direction: string;
  text: string;
}

/** One customer, and what races with the answers to them. */
interface Race {
  readonly customer: Customer;
  /** How many messages there were when a person took over: the agent sends none after them. */
  readonly takenOverAt: number | null;
}

/**
 * While workflows think for random times, customers write more and people take over at random
 * moments around the answer. Each race has at least one of both.
 */
export function provesRaces(stage: () => Stage): void {
  describe(`${RACES} races of answers with people and newer messages (seed ${SEED})`, () => {
    const thinking = withThinking(stage);
    const random = randomFrom(SEED);
    const moment = () => pause(random() * 2 * THINKS_MS);
    const api = () => stage().service.api;

    const race = async (number: number): Promise<Race> => {
      const customer = await stage().customerWrites(`${number}.1`);
      const hits = 1 + Math.floor(random() * 3);
      const isTakenOver = random() < 0.4;
      for (let hit = 1; hit <= hits; hit++) {
        await isWithWorkflow(customer, hit);
        await moment();
        if (hit === hits && isTakenOver) return { customer, takenOverAt: await takeOver(customer) };
        await customer.write(`${number}.${hit + 1}`);
      }
      return { customer, takenOverAt: null };
    };
    /** Waits until the workflow thinks about the nth turn. */
    const isWithWorkflow = ({ conversationId }: Customer, nth: number) =>
      stage().until(`turn ${nth} of ${conversationId} to be thought about`, () => {
        const asked = thinking.mind.turns.filter((turn) => turn.sessionId === conversationId);
        return Promise.resolve(asked.length >= nth);
      });
    const takeOver = async ({ conversationId }: Customer): Promise<number> => {
      const { status, body } = await api().post(`/api/conversations/${conversationId}/takeover`);
      expect(status).toBe(200);
      return body.message_count as number;
    };
    const isOver = ({ customer }: Race) =>
      stage().until(`the turns of ${customer.conversationId} to end`, async () => {
        const turns = await thinking.turnsOf(customer);
        return turns.every(({ status }) => !['queued', 'running'].includes(status));
      });
    const read = async ({ customer }: Race) =>
      (await api().get(`/api/conversations/${customer.conversationId}/messages`)).body
        .data as Said[];

    const run = async (way: Way, count: number, from: number) => {
      const workflow = await thinking.think(way);
      thinking.mind.answerBy(async ({ chatInput }) => {
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
        if (each.takenOverAt === null) await answered(each);
        await isOver(each);
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
      (await stage().n8n.executions(id)).filter(
        ({ output }) => output['Somebody was faster'] !== undefined,
      ).length;
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
        const { races, refusals } = await run(way, RACES / 2, from);
        const figures = { replies: 0, takenOver: 0, together: 0, superseded: 0, refusals };
        for (const each of races) {
          const thread = await read(each);
          const { takenOverAt } = each;
          let unanswered: string[] = [];
          for (const [index, { direction, text }] of thread.entries()) {
            if (direction === 'inbound') unanswered.push(text);
            else {
              // Each reply answers everything since the one before it, and nothing else.
              expect(text).toBe(unanswered.join(' '));
              expect({ text, isOverPerson: index >= (takenOverAt ?? thread.length) }).toEqual({
                text,
                isOverPerson: false,
              });
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
        console.log(`By the ${way}, ${races.length} races: ${JSON.stringify(figures)}`);
        expect(figures.takenOver).toBeGreaterThan(0);
        expect(figures.superseded).toBeGreaterThan(races.length / 5);
        if (way === 'operations') expect(refusals).toBeGreaterThan(races.length / 5);
      },
    );
  });
}
