import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ServiceStore } from '../../store/collections.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { TurnObserver } from './turnRunner.ts';
import { TURN_OUTCOMES, type WebhookTurn } from './webhookTurn.ts';

const OUTCOMES = [...TURN_OUTCOMES, 'superseded', 'failed'] as const;
/** Up to a day: a workflow may wait for a person. */
const TURN_SECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900, 3600, 86_400];
/** More turns than this are counted as this many. */
const MAX_COUNTED = 10_000;

/** Counts the turns of workflows that have ended, and those that have not. No label holds an id. */
export function countTurns(
  registry: Registry,
  store: Pick<ServiceStore, 'transaction'>,
): TurnObserver {
  const registers = [registry];
  const ended = new Counter({
    name: 'conversation_service_agent_turns_total',
    help: 'Turns of workflows that are the agent, by how they ended. Tests by the team are left out.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0);
  const seconds = new Histogram({
    name: 'conversation_service_agent_turn_seconds',
    help: 'Time from the beginning of a turn of a workflow to its end, by how it ended.',
    labelNames: ['outcome'],
    buckets: TURN_SECONDS,
    registers,
  });
  watchOpen(registry, store);
  return {
    ended({ status, outcome, createdAt, endedAt, isTest }: WebhookTurn) {
      if (isTest || endedAt === null) return;
      const label = { outcome: status === 'answered' ? (outcome ?? 'nothing') : status };
      ended.inc(label);
      // A clock that was set back must not reduce the sum.
      const ms = Math.max(0, Date.parse(endedAt) - Date.parse(createdAt));
      seconds.observe(label, ms / 1000);
    },
  };
}

/** `parked`: waits for its first attempt, or for the next one because the workflow was not there. */
function watchOpen(registry: Registry, store: Pick<ServiceStore, 'transaction'>): void {
  new Gauge({
    name: 'conversation_service_agent_turns_open',
    help: 'Turns of workflows that have not ended: running, parked (to be sent, or sent again), suspended (waiting for a customer or a colleague).',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      try {
        await store.transaction(async (tx) => {
          for (const status of ['queued', 'running', 'suspended'] as const) {
            const found = await tx.webhookTurns.find({ where: { status }, limit: MAX_COUNTED });
            this.set({ status: status === 'queued' ? 'parked' : status }, found.length);
          }
        });
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    },
  });
}
