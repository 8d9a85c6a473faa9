import { randomBytes } from 'node:crypto';
import type { Contact } from '../../conversations/contact.ts';
import {
  isCustomerWaiting,
  type Conversation,
  type SystemNote,
} from '../../conversations/index.ts';
import type { Presence } from '../../inbox/presence/presence.ts';
import { LIVE_EVENTS, type LiveEvent } from '../../platform/html/liveSection.ts';
import { KeyedListeners } from '../../platform/http/keyedListeners.ts';
import type { ServiceStore } from '../../store/collections.ts';
import type { Change, Document } from '../../store/store.ts';

/**
 * What may have changed: an event, or an event of one conversation. `thread` alone is all threads.
 * A presence names who is there, and `assigned` the member to whom a conversation was given.
 */
export type LiveTopic =
  | LiveEvent
  | `thread:${string}`
  | `presence:${string}:${string}`
  | `assigned:${string}:${string}`;

/** A presence concerns all other members, an assignment only the member who is assigned. */
export function concerns(topic: LiveTopic, memberId: string): boolean {
  const [event, , about] = topic.split(':');
  if (about === undefined) return true;
  return event === 'assigned' ? about === memberId : about !== memberId;
}

/** A topic and where in the feed it last changed. */
export interface LiveChange {
  readonly topic: LiveTopic;
  readonly at: number;
}

/** How many changed topics are remembered, in all workspaces together. */
const MAX_REMEMBERED = 10_000;
/** Told to all workspaces. */
const EVERYONE = '*';

/** @param signal ends the feed */
export function followWorkspaces(store: ServiceStore, signal: AbortSignal): LiveFeed {
  const feed = new LiveFeed();
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) feed.forget();
      else {
        const { document } = change as Change;
        const { workspaceId } = (document ?? {}) as { workspaceId?: string };
        // The workspace of a removed document is unknown, so all are told. Its topics carry no ids.
        if (document === null) feed.note(EVERYONE, topicsOf(change as Change));
        else if (workspaceId !== undefined) feed.note(workspaceId, topicsOf(change as Change));
      }
    }
  })();
  return feed;
}

/**
 * Tells the team's open pages what changes in their workspace, and remembers where each topic last
 * changed. The oldest are forgotten first.
 */
export class LiveFeed {
  readonly #listeners = new KeyedListeners<readonly LiveChange[]>();
  /** Positions of another process mean nothing here. */
  readonly #process = randomBytes(6).toString('base64url');
  readonly #maxRemembered: number;
  /** By workspace and topic, the one that changed longest ago first. */
  readonly #lastAt = new Map<string, number>();
  #now = 0;
  /** Changes up to this position may have been forgotten. */
  #forgottenUpTo = 0;

  constructor(maxRemembered = MAX_REMEMBERED) {
    this.#maxRemembered = maxRemembered;
  }

  /** Where this process's feed stands: what is read from now on is at least as new. */
  get position(): string {
    return this.positionAt(this.#now);
  }

  /** The position of a change in this process's feed. */
  positionAt(at: number): string {
    return `${this.#process}.${at}`;
  }

  /**
   * @param listener gets what a change touches
   * @returns a function that stops listening
   */
  listen(workspaceId: string, listener: (changes: readonly LiveChange[]) => void): () => void {
    return this.#listeners.listen(workspaceId, listener);
  }

  /** @param workspaceId `*` for all of them */
  note(workspaceId: string, topics: readonly LiveTopic[]): void {
    if (topics.length === 0) return;
    const at = ++this.#now;
    for (const topic of topics) {
      const key = `${workspaceId} ${topic}`;
      this.#lastAt.delete(key);
      this.#lastAt.set(key, at);
    }
    for (const [key, lastAt] of this.#lastAt) {
      if (this.#lastAt.size <= this.#maxRemembered) break;
      this.#lastAt.delete(key);
      this.#forgottenUpTo = lastAt;
    }
    const changes = topics.map((topic) => ({ topic, at }));
    if (workspaceId === EVERYONE) this.#listeners.tellAll(changes);
    else this.#listeners.tell(workspaceId, changes);
  }

  /** Changes were missed: anything may have changed. */
  forget(): void {
    this.#lastAt.clear();
    this.#forgottenUpTo = ++this.#now;
    this.#listeners.tellAll(this.#everything());
  }

  /**
   * What has changed since a position. Everything, when that cannot be told any more: the position
   * is too old, or another process's.
   */
  since(workspaceId: string, position: string): readonly LiveChange[] {
    const at = this.#read(position);
    if (at === null || at < this.#forgottenUpTo) return this.#everything();
    const changes: LiveChange[] = [];
    for (const [key, lastAt] of this.#lastAt) {
      if (lastAt <= at) continue;
      const [whose, topic] = key.split(' ') as [string, LiveTopic];
      if (whose === workspaceId || whose === EVERYONE) changes.push({ topic, at: lastAt });
    }
    return changes;
  }

  #everything(): readonly LiveChange[] {
    return LIVE_EVENTS.map((topic) => ({ topic, at: this.#now }));
  }

  #read(position: string): number | null {
    const [, process, at] = /^([\w-]{8})\.(\d{1,15})$/.exec(position) ?? [];
    return process === this.#process && Number(at) <= this.#now ? Number(at) : null;
  }
}

function topicsOf({ collection, id, document }: Change): readonly LiveTopic[] {
  const conversationId = (document as { conversationId?: string } | null)?.conversationId;
  const thread: readonly LiveTopic[] =
    conversationId === undefined ? [] : [`thread:${conversationId}`];
  switch (collection) {
    case 'conversations':
      return document === null
        ? ['conversations', 'thread']
        : ['conversations', `thread:${id}`, ...awaiting(document as Conversation)];
    case 'contacts':
      // Any other change comes with a message, which changes the conversation too.
      return isChangedByTeam(document) ? ['conversations'] : [];
    case 'messages':
      return thread;
    case 'systemNotes':
      return document === null ? thread : [...thread, ...assigned(document as SystemNote)];
    case 'presences':
      return document === null ? [] : [presenceTopic(document as Presence)];
    case 'toolCalls':
      return [...thread, 'tools', 'waiting'];
    case 'waits':
      return [...thread, 'waiting'];
    case 'tools':
      return ['tools'];
    case 'agentSettings':
    case 'agentWebhooks':
    case 'agentTestWebhooks':
    case 'webhookTurns':
      return ['agent'];
    case 'channels':
      // Each inbound message changes its channel. A thread depends only on the channel's removal.
      return document === null ? ['channels', 'thread'] : ['channels'];
    case 'payments':
      return [...thread, 'payments'];
    case 'paymentAccounts':
      return ['payments'];
    case 'deliveries':
    case 'subscriptions':
    case 'apiKeys':
    case 'contactReveals':
      return ['keys'];
    default:
      return [];
  }
}

const awaiting = (conversation: Conversation): readonly LiveTopic[] =>
  isCustomerWaiting(conversation) ? ['awaiting'] : [];

/** Members who assign a conversation to themselves are not told. */
const assigned = ({ conversationId, change, actor }: SystemNote): readonly LiveTopic[] =>
  change.type === 'assigned' && change.to !== null && change.to.id !== actor.memberId
    ? [`assigned:${conversationId}:${change.to.id}`]
    : [];

const presenceTopic = ({ conversationId, memberId }: Presence): LiveTopic =>
  `presence:${conversationId}:${memberId}`;

/** Whether the team has renamed or forgotten a contact, or removed its name. */
const isChangedByTeam = (contact: Document | null): boolean => {
  const { forgotten, isNamedByTeam } = (contact ?? {}) as Partial<Contact>;
  return forgotten !== undefined || isNamedByTeam !== undefined;
};
