import type { Document } from '../store/store.ts';
import type { ApiKey } from './apiKey.ts';

declare module '../platform/http/caller.ts' {
  interface Caller {
    readonly workspace: Workspace;
    /** The API key; null for a visitor of the chat. */
    readonly apiKey: ApiKey | null;
  }
}

/** One tenant: its conversations, keys and subscriptions are its own. */
export interface Workspace extends Document {
  /** Public name in payloads and chat addresses; unique. */
  readonly slug: string;
  readonly name: string;
  /** The workspace's agent, `agent_id` in payloads. */
  readonly agentId: string;
  /** When the checklist of the first hour was done or dismissed; null or absent: not yet. */
  readonly firstHourEndedAt?: string | null;
  readonly createdAt: string;
}

/** "Acme & Söhne" → "acme-sohne"; `workspace` when nothing is left. */
export function slugFrom(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return slug || 'workspace';
}

export const ROLES = ['owner', 'member'] as const;
/** An owner decides about the team, the connections and the agent; a member answers customers. */
export type Role = (typeof ROLES)[number];

/**
 * A member without a role is an owner: before there were roles, everybody could do everything, and
 * an update takes that from nobody.
 */
export const roleOf = ({ role }: { readonly role?: Role }): Role => role ?? 'owner';

export const isOwner = (member: { readonly role?: Role }): boolean => roleOf(member) === 'owner';

/** A person of the workspace's team. */
export interface Member extends Document {
  readonly workspaceId: string;
  readonly name: string;
  /** Lower case; unique. */
  readonly email: string;
  readonly passwordHash: string;
  /** Absent for members from before there were roles. Read it with `roleOf`. */
  readonly role?: Role;
  /** IANA name, `Europe/Madrid`; null or absent: UTC. */
  readonly timeZone?: string | null;
  /** The link that an owner gave to a member who forgot the password; null or absent: none. */
  readonly passwordReset?: PasswordReset | null;
  readonly createdAt: string;
}

interface PasswordReset {
  /** SHA-256 of the link's token. */
  readonly hash: string;
  readonly createdBy: string;
  /** The owner who made it; null or absent: the command line. */
  readonly createdById?: string | null;
  readonly expiresAt: string;
}

/** A browser in which a member is signed in. Id: hash of the cookie's token. */
export interface Session extends Document {
  readonly memberId: string;
  readonly workspaceId: string;
  readonly createdAt: string;
  /** Extended while the session is used. */
  readonly expiresAt: string;
  /** For the index by expiry. */
  readonly kind: 'session';
}

/** A link by which somebody joins the team, once. Id: hash of its token. */
export interface Invite extends Document {
  readonly workspaceId: string;
  /** Whom it is for, as the inviting member wrote it. */
  readonly note: string;
  /** The role of the person who joins. Absent before there were roles: a member. */
  readonly role?: Role;
  readonly createdBy: string;
  /** The member who made the invitation, which ends when they are removed. */
  readonly createdById: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}
