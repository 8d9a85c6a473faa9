import type { ServerResponse } from 'node:http';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { waitFor } from '../../helpers/waitFor.ts';
import { deliveryStage } from './deliveryStage.ts';

const stage = deliveryStage();

it('a start logs how many deliveries are overdue, without those that wait for a retry', async () => {
  const lines: string[] = [];
  const takeLoggedCount = (): number | null => {
    const line = lines.splice(0).find((each) => each.includes('became due before this start'));
    return line === undefined ? null : (JSON.parse(line) as { deliveries: number }).deliveries;
  };
  await stage.start({
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    env: { DELIVERY_RETRY_DELAYS_MS: '3600000,3600000,3600000' },
  });
  const held: ServerResponse[] = [];
  stage.answer = (_request, response) => void held.push(response);
  await stage.subscribe();
  await stage.write('1', '2', '3', '4', '5');
  await waitFor('four under way, so that one waits for a place', () => held.length === 4);
  expect(takeLoggedCount()).toBeNull();

  stage.answer = (_request, response) => void response.writeHead(503).end();
  const restarted = stage.service.restart();
  for (const response of held) response.writeHead(503).end();
  await restarted;
  expect(takeLoggedCount()).toBe(1); // the four that were under way have an hour to wait

  await waitFor('the fifth', () => stage.receiver.requests.length === 5);
  await stage.service.restart();
  expect(takeLoggedCount()).toBeNull();
});
