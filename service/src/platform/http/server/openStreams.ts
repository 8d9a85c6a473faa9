import { FairPool } from '../../limits/fairPool.ts';

/** How many streams may be open. */
export interface StreamLimits {
  /** For one visitor or one member. */
  readonly perOwner: number;
  /** From one address. */
  readonly perAddress: number;
  /** Shared by all workspaces. One workspace alone may have half. */
  readonly inAll: number;
}

/** Who a stream belongs to. */
export interface StreamHolder {
  readonly owner: string;
  readonly address: string;
  readonly workspace: string;
}

interface OpenStream {
  readonly address: string;
  readonly leavePool: () => void;
  readonly end: () => void;
}

/**
 * Counts open streams, so that nobody can hold thousands of sockets. When an owner opens one stream
 * too many, the owner's oldest one ends: a connection that has died unnoticed is among the oldest,
 * and must not keep its owner out.
 */
export class OpenStreams {
  readonly #limits: StreamLimits;
  /** By owner, the oldest first. */
  readonly #byOwner = new Map<string, Set<OpenStream>>();
  readonly #byAddress = new Map<string, number>();
  readonly #pool: FairPool;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
    this.#pool = new FairPool(limits.inAll);
  }

  get count(): number {
    return this.#pool.held;
  }

  /**
   * @param end called to end this stream when it is the oldest of too many. By then, the stream no
   * longer counts
   * @returns a function to call when the stream has ended, or what has too many streams already:
   * the address or the workspace
   */
  enter(
    { owner, address, workspace }: StreamHolder,
    end: () => void,
  ): (() => void) | 'address' | 'workspace' {
    const streams = this.#byOwner.get(owner);
    const oldest = streams && streams.size >= this.#limits.perOwner ? [...streams][0]! : null;
    const ofAddress = (this.#byAddress.get(address) ?? 0) - (oldest?.address === address ? 1 : 0);
    if (ofAddress >= this.#limits.perAddress) return 'address';
    // The new stream takes over the oldest one's place in the pool.
    const leavePool = oldest?.leavePool ?? this.#pool.enter(workspace);
    if (leavePool === null) return 'workspace';
    if (oldest) {
      this.#forget(owner, oldest);
      oldest.end();
    }
    const own: OpenStream = { address, leavePool, end };
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(own));
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    return () => {
      if (this.#forget(owner, own)) leavePool();
    };
  }

  /** @returns whether the stream was still counted. Its place in the pool is left to the caller */
  #forget(owner: string, stream: OpenStream): boolean {
    const streams = this.#byOwner.get(owner);
    if (!streams?.delete(stream)) return false;
    if (streams.size === 0) this.#byOwner.delete(owner);
    const left = this.#byAddress.get(stream.address)! - 1;
    if (left === 0) this.#byAddress.delete(stream.address);
    else this.#byAddress.set(stream.address, left);
    return true;
  }
}
