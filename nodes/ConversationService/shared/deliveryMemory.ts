/** What is needed of an HTTP response: how it ended. */
export interface EndingResponse {
	statusCode: number;
	destroyed: boolean;
	once(event: 'finish' | 'close', listener: () => void): unknown;
}

export type DeliveryState = 'new' | 'in_flight' | 'done';

/**
 * Which deliveries this process has taken, so that a repeat starts no second execution.
 *
 * A delivery counts as done only once its response has ended with a 2xx: n8n starts the execution
 * after the trigger returns and may still answer 500, and then the repeat must start it.
 *
 * Bounded: the newest `capacity` deliveries (10,000 by default, about 2 MB); an older one would be
 * taken again. Those in flight are bounded by the open connections. Kept in memory: a restart, or
 * a second webhook process of n8n, starts with an empty one.
 */
export class DeliveryMemory {
	private readonly inFlight = new Set<string>();

	/** Each with the Unix time it was signed for. */
	private readonly done = new Map<string, number>();

	private readonly capacity: number;

	constructor(capacity = 10_000) {
		this.capacity = capacity;
	}

	stateOf(key: string): DeliveryState {
		if (this.done.has(key)) return 'done';
		return this.inFlight.has(key) ? 'in_flight' : 'new';
	}

	/**
	 * Whether a delivery that someone is said to have asked for again was really signed later than the one that
	 * was taken. The header that says so is not signed, but the time is.
	 */
	isSignedLater(key: string, signedAt: number): boolean {
		return signedAt > (this.done.get(key) ?? -Infinity);
	}

	/**
	 * Follows the response of a delivery that is being taken, and remembers how it ends.
	 * @param signedAt the `t` of its signature, Unix time in seconds
	 */
	follow(key: string, response: EndingResponse, signedAt: number): void {
		if (response.destroyed) return;
		this.inFlight.add(key);
		response.once('finish', () => {
			this.inFlight.delete(key);
			if (response.statusCode >= 200 && response.statusCode < 300) this.remember(key, signedAt);
		});
		// Without a finish before it: the caller hung up, saw no 2xx and will repeat.
		response.once('close', () => this.inFlight.delete(key));
	}

	private remember(key: string, signedAt: number): void {
		const latest = Math.max(signedAt, this.done.get(key) ?? -Infinity);
		this.done.delete(key);
		this.done.set(key, latest);
		if (this.done.size <= this.capacity) return;
		for (const oldest of this.done.keys()) {
			this.done.delete(oldest);
			return;
		}
	}
}
