// The checks that both chaos suites make at the end.
import { expect, it } from '@jest/globals';
import type { ApiClient } from '../helpers/apiClient.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { DeliveryLedger } from './deliveryLedger.ts';
import { waitFaults, type Waiters } from './waiters.ts';
import type { WorkflowAgent } from './workflowAgent.ts';
import type { Writers } from './writers.ts';

export interface Actors {
  readonly writers: Writers;
  readonly waiters: Waiters;
  readonly agent: WorkflowAgent;
}

const SETTLED_MS = 300_000;

/** Recovers failed deliveries until none is pending or failed. @returns how many it recovered */
export async function settleDeliveries(api: ApiClient, hook: string): Promise<number> {
  let recovered = 0;
  const countOf = async (status: string): Promise<number> =>
    (await api.get(`/api/hooks/${hook}/deliveries?status=${status}&limit=1`)).body.data.length;
  await waitFor(
    `${hook} to have no delivery pending or failed`,
    async () => {
      if ((await countOf('pending')) > 0) return false;
      if ((await countOf('failed')) === 0) return true;
      recovered += (await recover(api, hook)).body.redelivered as number;
      return false;
    },
    { timeoutMs: SETTLED_MS, everyMs: 200 },
  );
  return recovered;
}

export const recover = (api: ApiClient, hook: string) =>
  api.post(`/api/hooks/${hook}/recover`, { since: '2020-01-01T00:00:00.000+00:00' });

/** Stops the actors, and waits until everything that they began has ended. */
export async function settleActors({ writers, waiters, agent }: Actors): Promise<void> {
  await Promise.all([writers, waiters, agent].map((each) => each.stop()));
  await Promise.all([waiters.settle(), agent.settle()]);
}

export const inWords = ({ writers, waiters, agent }: Actors): string => {
  const { received, sent } = writers.acknowledged;
  return `${received.size} messages and ${sent.size} replies acknowledged, ${writers.repeated} calls repeated; ${waiters.answered.size} executions went on\n  ${agent.ledger.inWords}`;
};

/** What was accepted at a path, in words. */
export const acceptedAt = (ledger: DeliveryLedger, path: string): string => {
  const { eventsOf, accepted } = ledger.at(path);
  return `${path}: ${eventsOf.size} messages in ${accepted} accepted deliveries`;
};

/**
 * Defines the tests of the outcome: every actor acted more often than there were rounds, and nothing
 * was lost, doubled or changed.
 */
export function testOutcome(
  rounds: number,
  actors: () => Actors,
  ledger: DeliveryLedger,
  paths: readonly string[],
): void {
  it('acted more often than there were rounds, in every way', () => {
    const { writers, waiters, agent } = actors();
    expect(writers.acknowledged.received.size).toBeGreaterThan(rounds);
    expect(writers.acknowledged.sent.size).toBeGreaterThan(rounds);
    expect(waiters.answered.size).toBeGreaterThan(rounds);
    expect(agent.ledger.asked.size).toBeGreaterThan(rounds);
  });

  it.each(paths)('%s was given every acknowledged message, each under one event id', (path) => {
    const { received, sent } = actors().writers.acknowledged;
    const { eventsOf } = ledger.at(path);
    expect([...received.keys(), ...sent.keys()].filter((id) => !eventsOf.has(id))).toEqual([]);
    expect([...eventsOf].filter(([, events]) => events.size > 1)).toEqual([]);
  });

  it('repeated each delivery with the same bytes and id', () => expect(ledger.faults).toEqual([]));

  it('let each execution go on once, with its answer', () =>
    expect(waitFaults(actors().waiters)).toEqual([]));

  it('ended each turn of the workflow once, and sent only what answers its conversation', () =>
    expect(actors().agent.ledger.faults).toEqual([]));

  it('stored each acknowledged write once', async () => {
    const { acknowledged, readAll } = actors().writers;
    // All other messages are the agent's.
    const all = (await readAll()).filter(({ text }) => /^(A question|An answer) /.test(text));
    const stored = new Map(all.map(({ id, text }) => [id, text]));
    expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
    const expected = [
      ...[...acknowledged.received].map(([id, key]) => [id, `A question ${key}`] as const),
      ...[...acknowledged.sent].map(([id, key]) => [id, `An answer ${key}`] as const),
    ];
    expect(expected.filter(([id, text]) => stored.get(id) !== text)).toEqual([]);
    expect(all).toHaveLength(expected.length);
  });
}

export const print = (...lines: readonly string[]) =>
  process.stdout.write(lines.map((line) => `  ${line}\n`).join(''));
