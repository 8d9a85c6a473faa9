import type { Document } from '../store/store.ts';

/** An API key as kept: never the key itself. */
export interface ApiKey extends Document {
  readonly workspaceId: string;
  /** Shown as the sender of messages that the key sends. */
  readonly name: string;
  /** SHA-256 of the whole key, hex; unique. */
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}
