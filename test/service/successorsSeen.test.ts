import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { chatCustomer } from '../helpers/apiClient.ts';
import { readMetrics } from '../helpers/metrics.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { successorStage, type Made } from './successorStage.ts';

describe('deliveries that wait for the successor of a removed subscription', () => {
  const stage = successorStage();
  const { start, subscribe, remove, write, delivered } = stage;
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  /** How many a start has told of; null: it said nothing. */
  const told = (): number | null => {
    const line = lines.splice(0).find((each) => each.includes('became due before this start'));
    return line === undefined ? null : (JSON.parse(line) as { deliveries: number }).deliveries;
  };
  const queue = async () => {
    const metrics = await readMetrics(stage.service.url);
    const value = (name: string) =>
      metrics.value(`conversation_service_queue_${name}`, { queue: 'deliveries' });
    return { waiting: value('waiting_jobs'), oldestDueSeconds: value('oldest_due_age_seconds')! };
  };

  /**
   * A subscription whose receiver holds its answers: four deliveries are under way, one more waits
   * for a place.
   */
  const overcrowd = async (): Promise<{ made: Made; answerAll: (status: number) => void }> => {
    const held: ServerResponse[] = [];
    stage.answer = (_request, response) => void held.push(response);
    const made = await subscribe();
    await write('1', '2', '3', '4', '5');
    await waitFor(
      'one that is late',
      async () =>
        held.length === 4 && (await queue()).waiting === 1 && (await queue()).oldestDueSeconds > 0,
    );
    return {
      made,
      answerAll: (status) =>
        held.splice(0).forEach((response) => void response.writeHead(status).end()),
    };
  };

  it('are counted as waiting, not as late', async () => {
    await start();
    const { made, answerAll } = await overcrowd();
    await remove(made);
    expect(await queue()).toEqual({ waiting: 1, oldestDueSeconds: 0 });
    stage.answer = null;
    answerAll(200);
    await delivered(await subscribe(), 5);
  });

  it('are not what a start tells of, nor what waits for its retry; what is late is', async () => {
    await start({ log, env: { DELIVERY_RETRY_DELAYS_MS: '3600000,3600000,3600000' } });
    const { made, answerAll } = await overcrowd();
    const restart = async () => {
      const restarted = stage.service.restart();
      answerAll(503);
      lines.length = 0;
      await restarted;
    };
    stage.answer = (_request, response) => void response.writeHead(503).end();
    await restart();
    expect(told()).toBe(1); // the four that were under way have an hour to wait
    await remove(made);
    await (await chatCustomer(stage.service.url)).write('due at once, and held back');
    await restart();
    expect(told()).toBeNull();
    expect((await queue()).waiting).toBeGreaterThan(0);
  });
});
