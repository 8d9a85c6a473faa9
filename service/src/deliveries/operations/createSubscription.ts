import { newSigningSecret } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import { isSameInstance, ownerInWords } from '../../platform/owner.ts';
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

type Creation = WantedSubscription & {
  /** Take the address even if another n8n has it. */
  readonly takeOver?: boolean;
};

/**
 * Subscribes an address to events. Instead of making a new subscription it goes on with an old one:
 * one that was removed a moment ago and has the same target_url and source and a shared event, or one
 * that is taken over from another n8n. That keeps its id and deliveries. What it is owed is sent, as
 * far as it is still asked for, signed with the new secret.
 * @returns the subscription and its signing secret, which is shown this once and kept sealed
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
    if (before) await resendLater(tx, before, now);
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

/** What the receiver turned away while it was being replaced is sent again. */
const resendLater = (tx: Tx, before: Subscription, now: Date): Promise<void> =>
  tx.jobs.enqueue(
    followUp({ ...before, removedAt: before.removedAt ?? timestamp(now) }, 'resend', now),
  );

type Sending = Pick<Subscription, 'event' | 'events' | 'targetUrl'>;

const sharedEvents = (a: Sending, b: Pick<WantedSubscription, 'events'>): number =>
  eventsOf(a).filter((event) => b.events.includes(event)).length;

/**
 * The active subscriptions that the caller takes from another n8n, the one with the most shared
 * events first. An exported workflow keeps the path of its address, whatever host it comes to.
 * @throws published_elsewhere (409) when one is held
 */
export function findElsewhere(
  all: readonly Subscription[],
  wanted: Pick<WantedSubscription, 'events' | 'targetUrl' | 'owner'>,
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

/** The removed subscription that this one is a new version of. */
const findRevivable = (
  all: readonly Subscription[],
  wanted: WantedSubscription,
  now: Date,
): Subscription | undefined =>
  byMostShared(
    all.filter(
      (each) => canBeRevived(each, now) && each.source === wanted.source && isShared(each, wanted),
    ),
    wanted,
  )[0];

const byMostShared = (all: readonly Subscription[], wanted: Pick<WantedSubscription, 'events'>) =>
  all.toSorted((a, b) => sharedEvents(b, wanted) - sharedEvents(a, wanted));

/** Whether both send some event to the same address. */
const isShared = (a: Sending, b: Pick<WantedSubscription, 'events' | 'targetUrl'>): boolean =>
  isSameAddress(a.targetUrl, b.targetUrl) && sharedEvents(a, b) > 0;

/** @throws subscription_exists (409) */
export function assertNew(
  others: readonly Subscription[],
  wanted: Pick<WantedSubscription, 'events' | 'targetUrl'>,
): void {
  const twin = others.find((each) => isShared(each, wanted));
  if (!twin) return;
  const shared = eventsOf(twin).filter((event) => wanted.events.includes(event));
  throw errorWithFix(
    'subscription_exists',
    `Subscription ${twin.id} sends ${shared.join(', ')} to this target_url already.`,
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

/** A message in n8n has room for about this many names, of this length. */
const MAX_HOLDERS_NAMED = 5;
const MAX_NAME_LENGTH = 50;

/**
 * Those with most first: `n8n.example.com: "Orders" (9), "Leads" (4), "Quotes" (3); from "zapier" (2),
 * from "make" and 6 more`.
 */
function holdersInWords(all: readonly Subscription[]): string {
  const held = Map.groupBy(all, ({ owner, source }) =>
    JSON.stringify(owner ? [`${owner.host}: `, owner.workflowName] : ['', source]),
  );
  const named = [...held]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, MAX_HOLDERS_NAMED)
    .map(([holder, { length: count }]) => {
      const [host, name] = JSON.parse(holder) as [string, string];
      return { host, count, words: `${holderName(host, name)}${count > 1 ? ` (${count})` : ''}` };
    });
  const more = all.length - named.reduce((sum, { count }) => sum + count, 0);
  const words = [...Map.groupBy(named, ({ host }) => host)]
    .map(([host, holders]) => `${host}${holders.map((each) => each.words).join(', ')}`)
    .join('; ');
  return more > 0 ? `${words} and ${more} more` : words;
}

function holderName(host: string, name: string): string {
  if (host === '' && name === '') return 'without a source';
  const short =
    name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}…` : name;
  return `${host === '' ? 'from ' : ''}${JSON.stringify(short)}`;
}
