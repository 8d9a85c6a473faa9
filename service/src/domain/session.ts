import type { Document } from '../store/store.ts';

/** A browser in which a member is signed in. Id: hash of the cookie's token. */
export interface Session extends Document {
  readonly memberId: string;
  readonly workspaceId: string;
  readonly createdAt: string;
  /** Moved on while it is used. */
  readonly expiresAt: string;
  /** For the index by expiry. */
  readonly kind: 'session';
}

/** An unused session ends after this time, a used one after `MAX_SESSION_MS`. */
export const SESSION_IDLE_MS = 7 * 24 * 60 * 60 * 1000;
export const MAX_SESSION_MS = 30 * 24 * 60 * 60 * 1000;

/** A link by which somebody joins the team, once. Id: hash of its token. */
export interface Invite extends Document {
  readonly workspaceId: string;
  /** Whom it is for, as the inviting member wrote it. */
  readonly note: string;
  readonly createdBy: string;
  /** The member who made it: it ends when they are removed. */
  readonly createdById: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export const INVITE_LASTS_MS = 7 * 24 * 60 * 60 * 1000;

/** How far a member has read a conversation. Id: member and conversation. */
export interface ReadMark extends Document {
  readonly memberId: string;
  /** The customer's messages seen so far. */
  readonly customerMessages: number;
}
