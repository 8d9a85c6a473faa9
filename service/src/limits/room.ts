import { AppError } from '../domain/errorCatalogue.ts';
import type { ServiceStore } from '../domain/collections.ts';
import type { StorePressure } from '../store/store.ts';
import type { Bounds } from './bounds.ts';

/** Room is made in steps of a few seconds. */
const RETRY_AFTER_SECONDS = 10;

/** Makes the check of what adds to a store. @see docs/decisions/0041 */
export const roomIn =
  (store: Pick<ServiceStore, 'pressure'>, bounds: Bounds) =>
  (adds: 'visitor' | 'data'): void => {
    const refuses = store.pressure?.refuses ?? 'nothing';
    if (refuses === 'nothing' || (refuses === 'visitors' && adds === 'data')) return;
    bounds.reached(adds === 'visitor' ? 'memory_visitors' : 'memory');
    const what = adds === 'visitor' ? 'new chats cannot begin' : 'nothing can be added';
    throw new AppError('unavailable', `The memory of the service is full: ${what} until there is room. Try again later; whoever runs the service finds in /readyz what to do.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };

/** What an operator should know and do; null while everything is taken. */
export function pressureInWords(pressure: StorePressure | null): string | null {
  if (pressure === null || pressure.refuses === 'nothing') return null;
  const { refuses, liveBytes, limitBytes, marks } = pressure;
  const what = refuses === 'visitors' ? 'new chats are' : 'whatever adds to it is';
  return (
    `What is stored takes ${inMib(liveBytes)} of the ${inMib(limitBytes)} MiB that the heap may hold: ${what} refused with 503 (new chats from ${inPercent(marks.visitors)} on, ` +
    `whatever adds from ${inPercent(marks.additions)} on) until there is room. Visitors of the chat who were never answered are removed meanwhile, the oldest first. ` +
    'To make room, lower RETENTION_DAYS or set CONVERSATION_RETENTION_DAYS; to have more, start with NODE_OPTIONS=--max-old-space-size=<MiB>, or move to PostgreSQL.'
  );
}

const inMib = (bytes: number) => Math.round(bytes / 2 ** 20);
const inPercent = (share: number) => `${Math.round(share * 100)} %`;
