import { newSigningSecret } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import { isSameInstance, ownerInWords } from '../../platform/owner.ts';
import type { EventName } from '../event.ts';
import {
  canBeRevived,
  eventsOf,
  followUp,
  isRemoved,
  isSameAddress,
  isSamePath,
  MAX_SUBSCRIPTIONS,
  WANTED_BY_DEFAULT,
  replaceReceiver,
  type Subscription,
  type WantedSubscription,
} from '../subscription.ts';
import type { Workspace } from '../../team/index.ts';
import { findSubscriptions } from './subscriptions.ts';
import { shorten } from '../../platform/shorten.ts';

type Creation = WantedSubscription & {
  /** Takes over from another n8n even if no member released its subscription. */
  readonly takeOver?: boolean;
};

/**
 * Subscribes an address to events. Where it can, it reuses an old subscription: one that was
 * removed a moment ago and has the same target_url and source and a shared event, or one that it
 * takes over from another n8n. Such a subscription keeps its id and its deliveries. Pending ones that
 * the new events and filter still ask for are sent, signed with the new secret.
 * @returns the subscription and its signing secret, which is shown only here and stored encrypted
 * @throws published_elsewhere, subscription_exists, subscription_limit_reached (409);
 * target_url_* (422)
 * @see docs/decisions/0022-a-removed-subscription-can-be-revived.md
 */
export async function createSubscription(
  { store, clock, secrets, checkTargetUrl }: Deps,
  workspace: Workspace,
  { takeOver = false, ...wanted }: Creation,
): Promise<{ subscription: Subscription; secret: string }> {
  await checkTargetUrl(workspace, wanted.targetUrl, 'target_url');
  const secret = newSigningSecret();
  const sealed = [{ sealed: secrets.seal(secret), expiresAt: null }];
  const subscription = await store.transaction(async (tx) => {
    // Locks the workspace: two creations cannot both be the 25th.
    await tx.workspaces.get(workspace.id);
    const now = clock.now();
    const all = await findSubscriptions(tx, workspace.id);
    const elsewhere = findElsewhere(all, wanted, takeOver);
    const others = all.filter((each) => !isRemoved(each) && !elsewhere.includes(each));
    assertNew(others, wanted);
    assertRoom(others);
    const before = elsewhere[0] ?? findRevivable(all, wanted, now);
    const created = before
      ? replaceReceiver(before, { ...wanted, secrets: sealed })
      : newSubscription(workspace, wanted, sealed, now);
    await tx.subscriptions.put(created);
    for (const { id } of elsewhere.slice(1)) await tx.subscriptions.delete(id);
    if (before) await enqueueResend(tx, before, now);
    return created;
  });
  return { subscription, secret };
}

const newSubscription = (
  { id: workspaceId }: Workspace,
  wanted: WantedSubscription,
  secrets: Subscription['secrets'],
  now: Date,
): Subscription => ({
  id: newId('sub'),
  workspaceId,
  event: wanted.events[0]!,
  ...WANTED_BY_DEFAULT,
  ...wanted,
  secrets,
  revision: 1,
  removedAt: null,
  consecutiveFailures: 0,
  lastDeliveryAt: null,
  createdAt: timestamp(now),
});

/**
 * Sends again, in the background, what the receiver turned away while it was being replaced. A
 * subscription that is taken over was never removed, so `now` counts as its removal.
 */
const enqueueResend = (tx: Tx, before: Subscription, now: Date): Promise<void> =>
  tx.jobs.enqueue(
    followUp({ ...before, removedAt: before.removedAt ?? timestamp(now) }, 'resend', now),
  );

type Wanted = Pick<WantedSubscription, 'events' | 'targetUrl'>;

const sharedEvents = (existing: Subscription, wanted: Wanted): readonly EventName[] =>
  eventsOf(existing).filter((event) => wanted.events.includes(event));

/**
 * The active subscriptions of another n8n that the caller takes over, the one with the most shared
 * events first. They have the same path: a workflow keeps it when it moves to another host.
 * @throws published_elsewhere (409) when one is neither released nor taken over
 */
export function findElsewhere(
  all: readonly Subscription[],
  wanted: Wanted & Pick<WantedSubscription, 'owner'>,
  takeOver: boolean,
): readonly Subscription[] {
  const elsewhere = all.filter(
    (each) =>
      !isRemoved(each) &&
      isSamePath(each.targetUrl, wanted.targetUrl) &&
      each.owner &&
      wanted.owner &&
      !isSameInstance(each.owner, wanted.owner),
  );
  const holder = elsewhere.find(({ isReleased }) => !isReleased);
  if (holder && !takeOver) {
    throw errorWithFix(
      'published_elsewhere',
      `The events of this workflow go to ${ownerInWords(holder.owner!)}.`,
      { existingId: holder.id, param: 'target_url' },
    );
  }
  return byMostShared(elsewhere, wanted);
}

/** The removed subscription that this one revives. */
const findRevivable = (
  all: readonly Subscription[],
  wanted: WantedSubscription,
  now: Date,
): Subscription | undefined =>
  byMostShared(
    all.filter(
      (each) => canBeRevived(each, now) && each.source === wanted.source && overlaps(each, wanted),
    ),
    wanted,
  )[0];

const byMostShared = (all: readonly Subscription[], wanted: Wanted) =>
  all.toSorted((a, b) => sharedEvents(b, wanted).length - sharedEvents(a, wanted).length);

/** Whether both send some event to the same address. */
const overlaps = (existing: Subscription, wanted: Wanted): boolean =>
  isSameAddress(existing.targetUrl, wanted.targetUrl) && sharedEvents(existing, wanted).length > 0;

/** @throws subscription_exists (409) */
export function assertNew(others: readonly Subscription[], wanted: Wanted): void {
  const twin = others.find((each) => overlaps(each, wanted));
  if (!twin) return;
  throw errorWithFix(
    'subscription_exists',
    `Subscription ${twin.id} sends ${sharedEvents(twin, wanted).join(', ')} to this target_url already.`,
    { existingId: twin.id },
  );
}

function assertRoom(all: readonly Subscription[]): void {
  if (all.length < MAX_SUBSCRIPTIONS) return;
  throw errorWithFix(
    'subscription_limit_reached',
    `A workspace has at most ${MAX_SUBSCRIPTIONS} subscriptions; this one has ${all.length}: ${holdersInWords(all)}.`,
  );
}

/** As many names, and as much of each, as n8n has room for in a message. */
const MAX_HOLDERS_NAMED = 5;
const MAX_NAME_LENGTH = 50;

/**
 * Who has the subscriptions, those with the most first: `n8n.example.com: "Orders" (9), "Leads" (4),
 * "Quotes" (3); from "zapier" (2), from "make" and 6 more`.
 */
function holdersInWords(all: readonly Subscription[]): string {
  const held = Map.groupBy(all, ({ owner, source }) =>
    JSON.stringify(owner ? [`${owner.host}: `, owner.workflowName] : ['', source]),
  );
  const named = [...held]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, MAX_HOLDERS_NAMED)
    .map(([holder, { length: count }]) => {
      const [prefix, name] = JSON.parse(holder) as [string, string];
      return {
        prefix,
        count,
        words: `${holderName(prefix, name)}${count > 1 ? ` (${count})` : ''}`,
      };
    });
  const more = all.length - named.reduce((sum, { count }) => sum + count, 0);
  const words = [...Map.groupBy(named, ({ prefix }) => prefix)]
    .map(([prefix, holders]) => `${prefix}${holders.map((each) => each.words).join(', ')}`)
    .join('; ');
  return more > 0 ? `${words} and ${more} more` : words;
}

function holderName(prefix: string, name: string): string {
  if (prefix === '' && name === '') return 'without a source';
  return `${prefix === '' ? 'from ' : ''}${JSON.stringify(shorten(name, MAX_NAME_LENGTH))}`;
}
