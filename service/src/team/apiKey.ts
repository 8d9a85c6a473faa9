import type { Document } from '../store/store.ts';
import type { Operation } from '../platform/http/operation.ts';

/**
 * What a key may do only if its maker says so. `contacts:reveal`: read contacts' details in the
 * clear.
 */
export type KeyPermission = 'contacts:reveal';

type KeyArea = Lowercase<Exclude<Operation['tag'], 'Chat'>>;
/** The parts of the API that a key can be limited to. */
export const KEY_AREAS = [
  'conversations',
  'subscriptions',
  'tools',
  'agent',
  'waits',
  'payments',
  'channels',
] as const satisfies readonly KeyArea[];

/** `conversations:read`, `tools:write`. Writing includes reading. */
export type AreaPermission = `${KeyArea}:${'read' | 'write'}`;
export const AREA_PERMISSIONS: readonly AreaPermission[] = KEY_AREAS.flatMap(
  (area) => [`${area}:read`, `${area}:write`] as const,
);

/** An API key as stored, without the key. Earlier versions stored none of the optional fields. */
export interface ApiKey extends Document {
  readonly workspaceId: string;
  /** Shown as the sender of messages that the key sends. */
  readonly name: string;
  /** SHA-256 of the whole key, hex; unique. */
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly permissions?: readonly KeyPermission[];
  /** The only parts of the API that it may call; null or absent: all of them. */
  readonly limitedTo?: readonly AreaPermission[] | null;
  readonly createdBy: string;
  readonly createdAt: string;
  /** From then on it is refused; null or absent: never. */
  readonly expiresAt?: string | null;
  readonly lastUsedAt: string | null;
  /** The IP address of that use. */
  readonly lastUsedFrom?: string | null;
  readonly revokedAt: string | null;
}

export const isExpired = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: Date): boolean =>
  typeof expiresAt === 'string' && Date.parse(expiresAt) <= now.getTime();

/** Whether it opens the API: neither revoked nor expired. */
export const isValid = (key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: Date): boolean =>
  key.revokedAt === null && !isExpired(key, now);

/** The permission that a call needs; null when every key has it. */
export function permissionFor({
  tag,
  method,
  isForEveryKey,
  isRead,
}: Pick<Operation, 'tag' | 'method' | 'isForEveryKey' | 'isRead'>): AreaPermission | null {
  if (tag === 'Chat' || isForEveryKey) return null;
  const area = tag.toLowerCase() as KeyArea;
  return `${area}:${method === 'get' || isRead ? 'read' : 'write'}`;
}

/** Whether the key may make calls that need this permission. */
export const mayCall = ({ limitedTo }: ApiKey, needed: AreaPermission): boolean =>
  !limitedTo ||
  limitedTo.includes(needed) ||
  limitedTo.includes(needed.replace(/:read$/, ':write') as AreaPermission);
