import { AppError } from '../domain/errorCatalogue.ts';
import type { ServiceStore } from '../domain/collections.ts';
import type { StorePressure } from '../store/store.ts';
import type { BoundName, Bounds } from './bounds.ts';

/** Room is made in steps of a few seconds. */
const RETRY_AFTER_SECONDS = 10;

type Adds = 'visitor' | 'data';

/** Makes the check of what adds to a store. @see docs/decisions/0041 */
export const roomIn =
  (store: Pick<ServiceStore, 'pressure'>, bounds: Bounds) =>
  (adds: Adds, workspaceId: string | null): void => {
    const bound = refusalOf(store.pressure, adds, workspaceId);
    if (bound === null) return;
    bounds.reached(bound);
    const what = adds === 'visitor' ? 'new chats cannot begin' : 'nothing can be added';
    const message =
      bound === 'memory_workspace'
        ? `This workspace holds much of what the service stores, and the memory for it is nearly full: ${what} in it until there is room, so that the other workspaces can go on. Try again later; the operator finds in /readyz what to do.`
        : `The memory of the service is full: ${what} until there is room. Try again later; the operator finds in /readyz what to do.`;
    throw new AppError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  };

/**
 * The bound at which something is refused, or null.
 * @param workspaceId whose it would be; null while that is not known, and only what everybody is
 * refused is
 */
export function refusalOf(
  pressure: StorePressure | null,
  adds: Adds,
  workspaceId: string | null,
): BoundName | null {
  const refuses = pressure?.refuses ?? 'nothing';
  if (refuses === 'additions') return adds === 'visitor' ? 'memory_visitors' : 'memory';
  if (refuses === 'nothing' || (adds === 'data' && refuses !== 'largest')) return null;
  if (refuses === 'visitors') return 'memory_visitors';
  return workspaceId !== null && pressure!.holdsTooMuch(workspaceId) ? 'memory_workspace' : null;
}

/** What an operator should know and do; null while everything is taken. */
export function pressureInWords(pressure: StorePressure | null): string | null {
  if (pressure === null || pressure.refuses === 'nothing') return null;
  const { refuses, liveBytes, limitBytes, marks } = pressure;
  const from = (chats: number, all: number) =>
    `refused with 503 (new chats from ${inPercent(chats)} on, whatever adds from ${inPercent(all)} on) until there is room.`;
  const isOfLargest = refuses === 'largest' || refuses === 'visitors_of_largest';
  const what = {
    visitors_of_largest: 'new chats of workspaces that hold more than is free are',
    largest: 'whatever is added in workspaces that hold more than is free is',
    visitors: 'new chats are',
    additions: 'whatever adds to it is',
  }[refuses];
  const share = isOfLargest
    ? ` The log names them; the largest holds ${inPercent(pressure.largestShare)} of all that is stored. The others go on.`
    : '';
  return (
    `What is stored takes ${inMib(liveBytes)} of the ${inMib(limitBytes)} MiB that the heap may hold: ${what} ` +
    `${isOfLargest ? from(marks.visitors_of_largest, marks.largest) : from(marks.visitors, marks.additions)}${share} ` +
    `Until then, chat visitors who were never answered are removed, ${isOfLargest ? 'in those workspaces, ' : ''}the oldest first. ` +
    'To make room, lower RETENTION_DAYS or set CONVERSATION_RETENTION_DAYS; to have more, start with NODE_OPTIONS=--max-old-space-size=<MiB>, or move to PostgreSQL.'
  );
}

const inMib = (bytes: number) => Math.round(bytes / 2 ** 20);
const inPercent = (share: number) => `${Math.round(share * 100)} %`;
