/** What is needed of an HTTP response: how it ended. */
export interface EndingResponse {
	statusCode: number;
	destroyed: boolean;
	once(event: 'finish' | 'close', listener: () => void): unknown;
}

export type DeliveryState = 'new' | 'in_flight' | 'done';

/** What tells one sending of a delivery from another. */
export interface Sending {
	/** The `t` of its signature, Unix time in seconds. */
	signedAt: number;
	/**
	 * Its `X-Service-Redelivery-Round`, the same for all retries of one asking; null when it has none.
	 */
	round: number | null;
	/** Whether it says that someone asked for it to be sent again. */
	isAskedFor: boolean;
}

/**
 * Whether someone asked for this sending after that one: the header that says so is not signed, but
 * the time is.
 */
const isAskedAfter = (sending: Sending, earlier: Sending): boolean =>
	sending.isAskedFor &&
	sending.signedAt > earlier.signedAt &&
	(sending.round === null || earlier.round === null || sending.round > earlier.round);

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
	private readonly inFlight = new Map<string, Sending>();

	private readonly done = new Map<string, Sending>();

	private readonly capacity: number;

	constructor(capacity = 10_000) {
		this.capacity = capacity;
	}

	/** How it stands with a delivery that has come; one that someone has asked for since is new. */
	stateOf(key: string, sending: Sending): DeliveryState {
		const [done, inFlight] = [this.done.get(key), this.inFlight.get(key)];
		if (done && !isAskedAfter(sending, done)) return 'done';
		return inFlight && !isAskedAfter(sending, inFlight) ? 'in_flight' : 'new';
	}

	/** Follows the response of a delivery that is being taken, and remembers how it ends. */
	follow(key: string, response: EndingResponse, sending: Sending): void {
		if (response.destroyed) return;
		this.inFlight.set(key, sending);
		const leave = () => {
			if (this.inFlight.get(key) === sending) this.inFlight.delete(key);
		};
		response.once('finish', () => {
			leave();
			if (response.statusCode >= 200 && response.statusCode < 300) this.remember(key, sending);
		});
		// Without a finish before it: the caller hung up, saw no 2xx and will repeat.
		response.once('close', leave);
	}

	private remember(key: string, sending: Sending): void {
		const earlier = this.done.get(key);
		const latest = earlier && earlier.signedAt > sending.signedAt ? earlier : sending;
		this.done.delete(key);
		this.done.set(key, latest);
		if (this.done.size <= this.capacity) return;
		for (const oldest of this.done.keys()) {
			this.done.delete(oldest);
			return;
		}
	}
}
