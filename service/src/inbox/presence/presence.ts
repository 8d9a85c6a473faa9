import { timestamp } from '../../platform/clock.ts';
import type { Document } from '../../store/store.ts';

/** What a page reports of its member. `stopped`: no longer writing. `left`: closed or hidden. */
export const DOINGS = ['looking', 'writing', 'stopped', 'left'] as const;
export type Doing = (typeof DOINGS)[number];

/** A member who has a conversation open. Id: conversation and member. */
export interface Presence extends Document {
  readonly kind: 'presence';
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly memberId: string;
  /** They count as there until then; a report of their page may move this time. */
  readonly expiresAt: string;
  /** They count as writing until then; null when they are not. */
  readonly writingUntil: string | null;
}

/** A page reports every 25 seconds that it is open, and every 5 seconds that its member writes. */
const LOOKING_MS = 90_000;
const WRITING_MS = 12_000;
/** A stored time that is further away than this is not extended, so that few reports write. */
const LOOKING_ENOUGH_MS = 60_000;
const WRITING_ENOUGH_MS = 8000;

type Of = Pick<Presence, 'workspaceId' | 'conversationId' | 'memberId'>;

export const presenceId = ({ conversationId, memberId }: Omit<Of, 'workspaceId'>): string =>
  `${conversationId}:${memberId}`;

/**
 * What to store when a page reports what its member does.
 * @param former what is stored, if anything
 * @returns null when nothing needs to be stored
 */
export function presenceAfter(
  former: Presence | null,
  of: Of,
  doing: Doing,
  now: Date,
): Presence | null {
  const later = (ms: number) => timestamp(new Date(now.getTime() + ms));
  const remainingMs = (time: string | null | undefined) =>
    time ? Math.max(0, Date.parse(time) - now.getTime()) : 0;
  const wasThere = remainingMs(former?.expiresAt) > 0;
  const next = { id: presenceId(of), kind: 'presence', ...of } as const;
  const writingUntil = former?.writingUntil ?? null;
  switch (doing) {
    case 'left':
      return wasThere ? { ...next, expiresAt: later(0), writingUntil: null } : null;
    case 'stopped':
      return wasThere && remainingMs(writingUntil) === 0
        ? null
        : { ...next, expiresAt: later(LOOKING_MS), writingUntil: null };
    case 'writing':
      return remainingMs(writingUntil) > WRITING_ENOUGH_MS
        ? null
        : { ...next, expiresAt: later(LOOKING_MS), writingUntil: later(WRITING_MS) };
    case 'looking':
      return remainingMs(former?.expiresAt) > LOOKING_ENOUGH_MS
        ? null
        : { ...next, expiresAt: later(LOOKING_MS), writingUntil };
  }
}

export const isThere = ({ expiresAt }: Presence, now: Date): boolean =>
  Date.parse(expiresAt) > now.getTime();

export const isWriting = ({ writingUntil }: Presence, now: Date): boolean =>
  writingUntil !== null && Date.parse(writingUntil) > now.getTime();
