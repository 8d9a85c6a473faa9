import { unwatchedBounds, type Bounds } from '../limits/bounds.ts';
import { FairPool } from '../limits/fairPool.ts';
import { FairQueue } from '../limits/fairQueue.ts';
import { OutboundError } from './outboundError.ts';

/** Turns a name into all of its IP addresses; rejects when there are none. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** Who asks for the addresses of a name. */
export interface Asker {
  /** Each workspace has its share of the look-ups. */
  workspaceId: string;
  /** Aborting it gives up. A look-up that no caller waits for leaves the queue. */
  signal?: AbortSignal | undefined;
  /** Called when the look-up begins, after any wait in the queue. */
  onBegin?: () => void;
}

/** A name is slow when its last look-up took longer than this. */
export const SLOW_LOOKUP_MS = 1_000;
/** How many slow names are remembered, how many quick names, and how many workspaces. */
const MAX_REMEMBERED = 1_000;
/** Names of one workspace that may wait: enough for its 100 tools and 25 subscriptions. */
export const MAX_WAITING_PER_WORKSPACE = 128;
/** Places in the queue, which all workspaces share. */
const MAX_WAITING = 1_024;
const THREADS_BY_DEFAULT = 4;

interface LookupLimits {
  /** The most look-ups under way at once. */
  atOnce: number;
  /**
   * The most look-ups of slow names under way at once. Workspaces that ask for slow names also
   * leave this many look-ups to the others.
   */
  slowAtOnce: number;
}

/** libuv runs look-ups on half of its threads. The other half is left for the store's writes. */
const limitsFromThreads = (): LookupLimits => {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || THREADS_BY_DEFAULT;
  const atOnce = Math.max(2, Math.floor((threads + 1) / 2));
  return { atOnce, slowAtOnce: Math.max(1, Math.floor(atOnce / 4)) };
};

interface Caller extends Asker {
  resolve: (addresses: readonly string[]) => void;
  reject: (reason: unknown) => void;
}

/** One name, and all callers that want to know its addresses. */
interface Lookup {
  readonly hostname: string;
  readonly callers: Set<Caller>;
  /** The workspaces in whose queues the name waits, each with a function that frees its place. */
  readonly queuedFor: Map<string, () => void>;
  hasBegun: boolean;
}

/** A set that remembers only the names or workspaces that were added last. */
class Recent {
  readonly #all = new Set<string>();

  has(item: string): boolean {
    return this.#all.has(item);
  }

  /** Adds the item as the newest, or removes it. */
  set(item: string, isIncluded: boolean): void {
    this.#all.delete(item);
    if (isIncluded) this.#all.add(item);
    if (this.#all.size > MAX_REMEMBERED) this.#all.delete(this.#all.values().next().value!);
  }
}

/**
 * Looks up a few names at a time, and shares the look-ups fairly among workspaces.
 *
 * A look-up by the system holds one of few threads until it ends. With a dead name server, it takes
 * ten seconds or more. So:
 * - One workspace gets at most half of the look-ups, and one is always free for the next workspace.
 * - Names whose last look-up was slow get at most a quarter of the look-ups.
 * - Workspaces that ask for slow names leave a quarter to the others. This does not apply to names
 *   that are known to be quick.
 * - The queue is limited, and workspaces take turns in it.
 * - Callers that ask for the same name share one look-up.
 * @see docs/decisions/0028-kept-connections-and-repeats.md
 * @see docs/decisions/0029-what-outbound-calls-tell-and-carry.md
 */
export class Lookups {
  readonly #resolver: Resolver;
  readonly #bounds: Bounds;
  /** For slow names. */
  readonly #slow: FairPool;
  /** For slow names, and for names of unknown speed that workspaces with slow names ask for. */
  readonly #doubtful: FairPool;
  readonly #all: FairPool;
  /** By name: look-ups that wait or are under way. */
  readonly #names = new Map<string, Lookup>();
  readonly #queue = new FairQueue<Lookup>();
  readonly #waiting = new FairPool(MAX_WAITING);
  readonly #slowNames = new Recent();
  readonly #quickNames = new Recent();
  readonly #slowWorkspaces = new Recent();

  constructor(
    resolver: Resolver,
    {
      bounds = unwatchedBounds,
      limits: { atOnce, slowAtOnce } = limitsFromThreads(),
    }: { bounds?: Bounds | undefined; limits?: LookupLimits } = {},
  ) {
    this.#resolver = resolver;
    this.#bounds = bounds;
    this.#slow = new FairPool(slowAtOnce);
    this.#doubtful = new FairPool(Math.max(1, atOnce - slowAtOnce));
    this.#all = new FairPool(atOnce);
  }

  /** How many names wait, each counted for every workspace that wants it. */
  get waiting(): number {
    return this.#waiting.held;
  }

  /**
   * Looks a name up, or joins a look-up of the same name.
   * @throws OutboundError `busy` when too many names wait; the signal's reason; the resolver's
   * error
   */
  async ask(hostname: string, asker: Asker): Promise<readonly string[]> {
    const { workspaceId, signal } = asker;
    signal?.throwIfAborted();
    const lookup = this.#names.get(hostname) ?? {
      hostname,
      callers: new Set(),
      queuedFor: new Map(),
      hasBegun: false,
    };
    this.#names.set(hostname, lookup);
    const { promise, ...settle } = Promise.withResolvers<readonly string[]>();
    const caller: Caller = { ...asker, ...settle };
    lookup.callers.add(caller);
    const giveUp = () => this.#giveUp(lookup, caller);
    signal?.addEventListener('abort', giveUp, { once: true });
    if (lookup.hasBegun) asker.onBegin?.();
    else if (!this.#tryToBegin(lookup, workspaceId) && !this.#wait(lookup, workspaceId))
      this.#refuse(lookup, caller);
    return promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  #refuse(lookup: Lookup, caller: Caller): void {
    this.#bounds.reached('lookups');
    lookup.callers.delete(caller);
    if (lookup.callers.size === 0) this.#names.delete(lookup.hostname);
    caller.reject(
      new OutboundError(
        'busy',
        `The name ${lookup.hostname} was not looked up: too many other names are waiting.`,
      ),
    );
  }

  /** Adds the name to the workspace's queue. @returns false when the queue takes no more names */
  #wait(lookup: Lookup, workspaceId: string): boolean {
    if (lookup.queuedFor.has(workspaceId)) return true;
    const hasFullQueue = this.#queue.lengthOf(workspaceId) >= MAX_WAITING_PER_WORKSPACE;
    const leave = hasFullQueue ? null : this.#waiting.enter(workspaceId);
    if (leave === null) return false;
    lookup.queuedFor.set(workspaceId, leave);
    this.#queue.add(workspaceId, lookup);
    return true;
  }

  #giveUp(lookup: Lookup, caller: Caller): void {
    lookup.callers.delete(caller);
    if (!lookup.hasBegun) this.#giveUpWaiting(lookup, caller);
    caller.reject(caller.signal!.reason);
  }

  #giveUpWaiting(lookup: Lookup, { workspaceId, signal }: Caller): void {
    // The signal's reason is an OutboundError when the caller's time has run out.
    if (signal!.reason instanceof OutboundError) this.#bounds.reached('lookups');
    if ([...lookup.callers].every((each) => each.workspaceId !== workspaceId))
      this.#leaveQueue(lookup, workspaceId);
    if (lookup.callers.size === 0) this.#names.delete(lookup.hostname);
  }

  #leaveQueue(lookup: Lookup, workspaceId: string): void {
    lookup.queuedFor.get(workspaceId)?.();
    lookup.queuedFor.delete(workspaceId);
    this.#queue.delete(workspaceId, lookup);
  }

  #tryToBegin(lookup: Lookup, workspaceId: string): boolean {
    const leave = this.#enter(lookup.hostname, workspaceId);
    if (leave !== null) this.#begin(lookup, workspaceId, leave);
    return leave !== null;
  }

  /** Begins the next waiting look-up. @returns false when none can begin */
  #beginNext(): boolean {
    let begin = () => {};
    const next = this.#queue.takeNext((workspaceId, waiting) => {
      for (const lookup of waiting) {
        const leave = this.#enter(lookup.hostname, workspaceId);
        if (leave === null) continue;
        begin = () => this.#begin(lookup, workspaceId, leave);
        return lookup;
      }
      return undefined;
    });
    begin();
    return next !== undefined;
  }

  #begin(lookup: Lookup, workspaceId: string, leave: () => void): void {
    lookup.hasBegun = true;
    for (const queuedId of [...lookup.queuedFor.keys()]) this.#leaveQueue(lookup, queuedId);
    for (const { onBegin } of lookup.callers) onBegin?.();
    void this.#lookUp(lookup, workspaceId, leave);
  }

  /** @returns a function that gives the places back; null when one of the pools is full */
  #enter(hostname: string, workspaceId: string): (() => void) | null {
    const isSlow = this.#slowNames.has(hostname);
    const isDoubtful =
      isSlow || (this.#slowWorkspaces.has(workspaceId) && !this.#quickNames.has(hostname));
    const pools = [
      ...(isSlow ? [this.#slow] : []),
      ...(isDoubtful ? [this.#doubtful] : []),
      this.#all,
    ];
    if (pools.some((pool) => pool.freeFor(workspaceId) === 0)) return null;
    const leaves = pools.map((pool) => pool.enter(workspaceId)!);
    return () => leaves.forEach((leave) => leave());
  }

  async #lookUp(lookup: Lookup, workspaceId: string, leave: () => void): Promise<void> {
    const { hostname, callers } = lookup;
    const startedAt = performance.now();
    const [outcome] = await Promise.allSettled([this.#resolver(hostname)]);
    this.#remember(hostname, workspaceId, performance.now() - startedAt > SLOW_LOOKUP_MS);
    this.#names.delete(hostname);
    leave();
    for (const { resolve, reject } of callers) {
      if (outcome.status === 'fulfilled') resolve(outcome.value);
      else reject(outcome.reason);
    }
    while (this.#beginNext());
  }

  /** A workspace counts as asking for slow names until a new name that it asks for is quick. */
  #remember(hostname: string, workspaceId: string, isSlow: boolean): void {
    if (isSlow || !this.#quickNames.has(hostname)) this.#slowWorkspaces.set(workspaceId, isSlow);
    this.#slowNames.set(hostname, isSlow);
    this.#quickNames.set(hostname, !isSlow);
  }
}
