import type { Document, Job } from '../store/store.ts';
import { timestamp } from '../platform/clock.ts';
import type { Event, EventName } from './event.ts';
import { passes, type Filter } from './filter.ts';
import type { Owner } from '../platform/owner.ts';
import { workGroup } from '../platform/jobs/workGroup.ts';
import type { SecretBox } from '../platform/security/secretBox.ts';

/** A secret as it is stored: encrypted, with the time when it stops signing. */
interface SealedSecret {
  readonly sealed: string;
  /** Null for the current secret. */
  readonly expiresAt: string | null;
}

/** Sends events to a URL. Earlier versions stored none of the optional fields. */
export interface Subscription extends Document {
  readonly workspaceId: string;
  /** The first of its events. */
  readonly event: EventName;
  /** All its events. Absent: only `event`. */
  readonly events?: readonly EventName[];
  /** Which of these events; null or absent: all. */
  readonly filter?: Filter | null;
  readonly targetUrl: string;
  /** Who made it, in free text: `n8n`. */
  readonly source: string;
  /** New events are not queued, and pending deliveries wait. What a person sends still goes out. */
  readonly paused?: boolean;
  /** Whether, after an outage, what never arrived is sent again. */
  readonly catchUp?: boolean;
  /** Whether a delivery failed in an outage, and none has arrived since. */
  readonly isAfterOutage?: boolean;
  /** The workflow that publishes it; null or absent when none does. */
  readonly owner?: Owner | null;
  /** Whether a member lets another owner take it. */
  readonly isReleased?: boolean;
  /** The current one first; empty while it is removed. */
  readonly secrets: readonly SealedSecret[];
  /** 1 at first, and one more each time it is revived or taken over. */
  readonly revision: number;
  /** When it was removed; null while it is active. It can be revived for REVIVAL_MS. */
  readonly removedAt: string | null;
  readonly consecutiveFailures: number;
  readonly lastDeliveryAt: string | null;
  readonly createdAt: string;
}

export const MAX_SUBSCRIPTIONS = 25;
/** Secrets that sign at the same time: each one costs every delivery a signature. */
export const MAX_SIGNING_SECRETS = 5;
/** Removed subscriptions that a workspace keeps. For each, every event that it asks for is queued. */
export const MAX_REMOVED_SUBSCRIPTIONS = 100;
/** How long a removed subscription can be revived. */
export const REVIVAL_MS = 60 * 1000;
/** Failed deliveries in a row that flag a subscription as failing; deliveries continue. */
const FAILING_AFTER = 5;
/** How long the replaced secret still signs. */
export const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1000;

/**
 * Whether two addresses are the same, however they are written: `https://Example.com:443` and
 * `https://example.com/` are.
 */
export const isSameAddress = (a: string, b: string): boolean =>
  a === b || URL.parse(a)?.href === URL.parse(b)?.href;

/** Whether two addresses have the same path, on the same host or another. */
export const isSamePath = (a: string, b: string): boolean =>
  URL.parse(a)?.pathname === URL.parse(b)?.pathname;

/** What a subscriber asks for. */
export type WantedSubscription = Pick<
  Subscription,
  'targetUrl' | 'source' | 'filter' | 'paused' | 'catchUp' | 'owner'
> &
  Required<Pick<Subscription, 'events'>>;

/** What a subscriber gets for each field that it leaves out. */
export const WANTED_BY_DEFAULT = {
  filter: null,
  paused: false,
  catchUp: false,
  owner: null,
} as const;

export const eventsOf = ({ event, events }: Pick<Subscription, 'event' | 'events'>) =>
  events ?? [event];

/** Whether an event is one that the subscription asks for. */
export const wants = (
  subscription: Pick<Subscription, 'event' | 'events' | 'filter'>,
  event: Pick<Event, 'name' | 'facts' | 'conversationId'>,
): boolean =>
  eventsOf(subscription).includes(event.name) &&
  (!subscription.filter || passes(subscription.filter, event));

export const subscriptionStatus = (subscription: Subscription): 'active' | 'failing' =>
  subscription.consecutiveFailures >= FAILING_AFTER ? 'failing' : 'active';

/** The secrets that sign at this time, the current one first. */
export const signingSecrets = (subscription: Subscription, now: Date): readonly SealedSecret[] =>
  subscription.secrets.filter(
    ({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now.getTime(),
  );

/** The secrets that sign at this time, decrypted. */
export const openSecrets = (
  subscription: Subscription,
  secrets: Pick<SecretBox, 'open'>,
  now: Date,
): readonly string[] => signingSecrets(subscription, now).map(({ sealed }) => secrets.open(sealed));

/** Whether it was removed. Nothing is sent to it, unless it is revived. */
export const isRemoved = ({ removedAt }: Subscription): boolean => removedAt !== null;

/** Whether it was removed, and it is not too late to revive it. */
export const canBeRevived = ({ removedAt }: Subscription, now: Date): boolean =>
  removedAt !== null && now.getTime() < Date.parse(removedAt) + REVIVAL_MS;

/** The subscription without its secrets: nothing is sent until it is revived. */
export const remove = (subscription: Subscription, now: Date): Subscription => ({
  ...subscription,
  secrets: [],
  removedAt: timestamp(now),
});

/**
 * The subscription with a new receiver and its secret: revived if it was removed, or taken over by
 * another owner.
 */
export const replaceReceiver = (
  before: Subscription,
  wanted: WantedSubscription & Pick<Subscription, 'secrets'>,
): Subscription => ({
  ...before,
  ...WANTED_BY_DEFAULT,
  ...wanted,
  event: wanted.events[0]!,
  isReleased: false,
  revision: before.revision + 1,
  removedAt: null,
  consecutiveFailures: 0,
});

/** The queue of what follows a removal, a revival or an outage, stored under its original name. */
export const FOLLOW_UP_QUEUE = 'removals';
/**
 * `end`: nobody has revived the subscription. `resend`: it was revived, and its receiver may have
 * refused deliveries while it was being replaced. `catch_up`: its receiver is back after an outage.
 */
type FollowUpTask = 'end' | 'resend' | 'catch_up';

/**
 * A job of that queue. Each revival raises the revision, so each removal has a job of its own. The
 * job of an earlier removal never deletes a subscription that was removed again.
 * @param occasion tells jobs of the same task and revision apart
 */
export const followUp = (
  { id, workspaceId, revision, removedAt }: Subscription,
  task: FollowUpTask,
  runAt: Date,
  occasion = '',
): Job => ({
  id: [id, revision, task, occasion].filter((part) => part !== '').join(':'),
  queue: FOLLOW_UP_QUEUE,
  group: workGroup(workspaceId, id),
  runAt: runAt.getTime(),
  rank: 0,
  data: { task, subscriptionId: id, revision, removedAt },
});
