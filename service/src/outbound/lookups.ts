import { unwatchedBounds, type Bounds } from '../limits/bounds.ts';
import { FairPool } from '../limits/fairPool.ts';
import { FairQueue } from '../limits/fairQueue.ts';
import { OutboundError } from './outboundError.ts';

/** Turns a name into all of its IP addresses; rejects when there are none. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** The caller of a look-up. */
export interface Asker {
  /** Look-ups are shared among workspaces. */
  workspaceId: string;
  /** Gives up. A look-up that nobody wants any more leaves the queue. */
  signal?: AbortSignal | undefined;
  /** Called when the look-up no longer waits. */
  onBegin?: () => void;
}

/** A look-up that takes longer than this makes its name a slow one. */
export const SLOW_LOOKUP_MS = 1_000;
/** Slow names, quick names and workspaces that are remembered, of each. */
const MAX_REMEMBERED = 1_000;
/**
 * Names that wait, of one workspace: more than the 100 tools and 25 subscriptions that it may have.
 */
export const MAX_WAITING_PER_WORKSPACE = 128;
/**
 * Places in the queue for all workspaces, which share them: a second is looked up at once, even
 * when each takes a second.
 */
export const MAX_WAITING = 1_024;
const THREADS_BY_DEFAULT = 4;

export interface LookupLimits {
  /** Look-ups at once, at most. */
  atOnce: number;
  /**
   * Of these, such as are of slow names; as many are left free by workspaces that ask for slow
   * names.
   */
  slowAtOnce: number;
}

/** As many as libuv gives look-ups: half of its threads. The others are for the store's writes. */
const limitsOfThreads = (): LookupLimits => {
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
  /** The workspaces in whose queues it waits, with what gives their places in the queue back. */
  readonly queuedFor: Map<string, () => void>;
  hasBegun: boolean;
}

/** The names or workspaces that were added last. */
class Recent {
  readonly #all = new Set<string>();

  has(each: string): boolean {
    return this.#all.has(each);
  }

  set(each: string, isIn: boolean): void {
    this.#all.delete(each);
    if (isIn) this.#all.add(each);
    if (this.#all.size > MAX_REMEMBERED) this.#all.delete(this.#all.values().next().value!);
  }
}

/**
 * Looks up a few names at a time, and shares these places among workspaces.
 *
 * A system look-up holds a thread until it gives up, which takes ten seconds and more where the name
 * server is dead, and there are few threads. So:
 * - one workspace holds at most half of the threads, and a new one finds one free;
 * - names whose last look-up was slow get a quarter of them;
 * - workspaces that ask for slow names leave a quarter to the others, except for names that are
 *   known to be quick;
 * - what waits is served by workspace in turn, and the queue has a limit;
 * - callers that ask for the same name share one look-up.
 * @see docs/decisions/0028, docs/decisions/0039
 */
export class Lookups {
  readonly #resolver: Resolver;
  readonly #bounds: Bounds;
  readonly #slow: FairPool;
  readonly #doubtful: FairPool;
  readonly #all: FairPool;
  /** What waits or is being looked up. */
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
      limits: { atOnce, slowAtOnce } = limitsOfThreads(),
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
   * @throws OutboundError `busy` when too much waits, the signal's reason, or what the resolver
   * throws
   */
  ask(hostname: string, asker: Asker): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      asker.signal?.throwIfAborted();
      const lookup = this.#names.get(hostname) ?? {
        hostname,
        callers: new Set(),
        queuedFor: new Map(),
        hasBegun: false,
      };
      this.#names.set(hostname, lookup);
      const caller = this.#join(lookup, { ...asker, resolve, reject });
      if (lookup.hasBegun) asker.onBegin?.();
      else if (
        !this.#tryToBegin(lookup, asker.workspaceId) &&
        !this.#wait(lookup, asker.workspaceId)
      )
        this.#refuse(lookup, caller);
    });
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

  /** @returns false when the workspace may not wait for one more */
  #wait(lookup: Lookup, workspaceId: string): boolean {
    if (lookup.queuedFor.has(workspaceId)) return true;
    const isQueueFull = this.#queue.lengthOf(workspaceId) >= MAX_WAITING_PER_WORKSPACE;
    const leave = isQueueFull ? null : this.#waiting.enter(workspaceId);
    if (leave === null) return false;
    lookup.queuedFor.set(workspaceId, leave);
    this.#queue.add(workspaceId, lookup);
    return true;
  }

  #join(lookup: Lookup, caller: Caller): Caller {
    const { signal } = caller;
    const giveUp = () => {
      lookup.callers.delete(caller);
      if (!lookup.hasBegun) this.#giveUpWaiting(lookup, caller);
      caller.reject(signal!.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    const stopListening =
      <T extends unknown[]>(settle: (...args: T) => void) =>
      (...args: T) => {
        signal?.removeEventListener('abort', giveUp);
        settle(...args);
      };
    const { resolve, reject } = caller;
    lookup.callers.add(
      Object.assign(caller, { resolve: stopListening(resolve), reject: stopListening(reject) }),
    );
    return caller;
  }

  #giveUpWaiting(lookup: Lookup, { workspaceId, signal }: Caller): void {
    // Its time ran out while it waited.
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

  /** Begins the next look-up that waits, of the workspace whose turn it is. */
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
    for (const queuedFor of [...lookup.queuedFor.keys()]) this.#leaveQueue(lookup, queuedFor);
    for (const { onBegin } of lookup.callers) onBegin?.();
    void this.#look(lookup, workspaceId, leave);
  }

  /** @returns a function that gives the places back; null when one of the pools has none */
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

  async #look(lookup: Lookup, workspaceId: string, leave: () => void): Promise<void> {
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
