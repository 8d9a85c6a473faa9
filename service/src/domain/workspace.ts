import type { Document } from '../store/store.ts';

/** One tenant: its conversations, keys and subscriptions are its own. */
export interface Workspace extends Document {
  /** Public name in payloads and chat addresses; unique. */
  readonly slug: string;
  readonly name: string;
  /** The workspace's agent, `agent_id` in payloads. */
  readonly agentId: string;
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

/** A person of the workspace's team. */
export interface Member extends Document {
  readonly workspaceId: string;
  readonly name: string;
  /** Lower case; unique. */
  readonly email: string;
  readonly passwordHash: string;
  readonly createdAt: string;
}
