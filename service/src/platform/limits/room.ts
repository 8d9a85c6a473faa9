import { AppError } from '../http/errorCatalogue.ts';
import type { ServiceStore } from '../../store/collections.ts';
import type { Refusal, StorePressure } from '../../store/store.ts';
import type { BoundName, Bounds } from './bounds.ts';

/** The store makes room in steps that take a few seconds each. */
const RETRY_AFTER_SECONDS = 10;

type Adds = 'visitor' | 'data';

/**
 * Makes the function that refuses additions to a full store.
 * @see docs/decisions/0016-additions-are-refused-before-memory-is-full.md
 */
export const roomAssertion =
  (store: Pick<ServiceStore, 'pressure'>, bounds: Bounds) =>
  (adds: Adds, workspaceId: string | null): void => {
    const bound = refusalOf(store.pressure, adds, workspaceId);
    if (bound === null) return;
    bounds.reached(bound);
    const what = adds === 'visitor' ? 'new chats cannot begin' : 'nothing can be added';
    const message =
      bound === 'memory_workspace'
        ? `This workspace stores much of the service's data, and the memory is nearly full: ${what} in it until there is room, so that the other workspaces can continue. Try again later. /readyz tells the operator what to do.`
        : `The memory of the service is full: ${what} until there is room. Try again later. /readyz tells the operator what to do.`;
    throw new AppError('unavailable', message, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      isAtBound: true,
    });
  };

/**
 * The bound that refuses an addition, or null.
 * @param workspaceId null while it is not known; then only bounds for all workspaces can refuse
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

/** What an operator should know and do, or null while nothing is refused. */
export function pressureInWords(pressure: StorePressure | null): string | null {
  if (pressure === null || pressure.refuses === 'nothing') return null;
  const { refuses, liveBytes, limitBytes, marks } = pressure;
  const isOnlyLargest = refuses === 'largest' || refuses === 'visitors_of_largest';
  const [chatsFrom, allFrom] = isOnlyLargest
    ? [marks.visitors_of_largest, marks.largest]
    : [marks.visitors, marks.additions];
  // With several workspaces, their new chats are refused only together with everything else.
  const isForAll = refuses === 'additions' && pressure.largestShare < 1;
  const from = isForAll
    ? `from ${inPercent(allFrom)}`
    : `new chats from ${inPercent(chatsFrom)}, everything that adds data from ${inPercent(allFrom)}`;
  const sentences = [
    `The stored data takes ${inMib(liveBytes)} of the ${inMib(limitBytes)} MiB of the heap: ${REFUSED[refuses]} refused with 503 until there is room (${from}).`,
    isOnlyLargest &&
      `The log names these workspaces; the largest stores ${inPercent(pressure.largestShare)} of all data. The others continue.`,
    `Until then, chat visitors who were never answered are removed${isOnlyLargest ? ' in those workspaces' : ''}, the oldest first.`,
    'To make room, lower RETENTION_DAYS or set CONVERSATION_RETENTION_DAYS. To have more room, start with NODE_OPTIONS=--max-old-space-size=<MiB>, or move to PostgreSQL.',
  ];
  return sentences.filter(Boolean).join(' ');
}

const REFUSED: Readonly<Record<Exclude<Refusal, 'nothing'>, string>> = {
  visitors_of_largest: 'new chats of workspaces that store more than is free are',
  largest: 'everything that adds data to workspaces that store more than is free is',
  visitors: 'new chats are',
  additions: 'everything that adds data is',
};

const inMib = (bytes: number) => Math.round(bytes / 2 ** 20);
const inPercent = (share: number) => `${Math.round(share * 100)} %`;
