/** The part of an HTTP response that tells how it ended. */
export interface EndingResponse {
	statusCode: number;
	destroyed: boolean;
	once(event: 'finish' | 'close', listener: () => void): unknown;
}

export type DeliveryState = 'new' | 'in_flight' | 'done';

/** One attempt of a delivery: the first one, a retry, or a redelivery that somebody asked for. */
export interface DeliveryAttempt {
	/** The `t` of its signature: Unix time in seconds. */
	signedAt: number;
	/**
	 * Its `X-Service-Redelivery-Round`, which is the same for all attempts of one redelivery; null when
	 * it has none.
	 */
	round: number | null;
	/** Whether its headers say that somebody asked for the redelivery. */
	isManual: boolean;
}

/**
 * Whether somebody asked for this attempt after the earlier one. The header that says so is not
 * signed, but the time is, so both must agree.
 */
const isAskedAfter = (attempt: DeliveryAttempt, earlier: DeliveryAttempt): boolean =>
	attempt.isManual &&
	attempt.signedAt > earlier.signedAt &&
	(attempt.round === null || earlier.round === null || attempt.round > earlier.round);

/**
 * Remembers the deliveries that this process has accepted, so that a repeat starts no second execution.
 *
 * A delivery counts as done once its response has ended with a 2xx. n8n starts the execution after the
 * trigger returns and may still answer 500. Then the repeat must start it.
 *
 * Keeps the newest `capacity` deliveries (10,000 by default, about 2 MB). An older delivery would
 * be accepted again. Those in flight are as many as the open connections. Everything is in memory:
 * after a restart, or in a second webhook process of n8n, nothing is remembered.
 */
export class DeliveryMemory {
	private readonly inFlight = new Map<string, DeliveryAttempt>();

	private readonly done = new Map<string, DeliveryAttempt>();

	private readonly capacity: number;

	constructor(capacity = 10_000) {
		this.capacity = capacity;
	}

	/** The state of a delivery that has arrived. It is new if somebody asked for it since the last time. */
	stateOf(key: string, attempt: DeliveryAttempt): DeliveryState {
		const [done, inFlight] = [this.done.get(key), this.inFlight.get(key)];
		if (done && !isAskedAfter(attempt, done)) return 'done';
		return inFlight && !isAskedAfter(attempt, inFlight) ? 'in_flight' : 'new';
	}

	/** Watches the response to a delivery, and remembers the delivery when it ends with a 2xx. */
	follow(key: string, response: EndingResponse, attempt: DeliveryAttempt): void {
		if (response.destroyed) return;
		this.inFlight.set(key, attempt);
		const leaveFlight = () => {
			if (this.inFlight.get(key) === attempt) this.inFlight.delete(key);
		};
		response.once('finish', () => {
			leaveFlight();
			if (response.statusCode >= 200 && response.statusCode < 300) this.remember(key, attempt);
		});
		// Without a "finish" before, the caller hung up before a 2xx and will repeat the delivery.
		response.once('close', leaveFlight);
	}

	private remember(key: string, attempt: DeliveryAttempt): void {
		const earlier = this.done.get(key);
		const latest = earlier && earlier.signedAt > attempt.signedAt ? earlier : attempt;
		this.done.delete(key);
		this.done.set(key, latest);
		const oldest = this.done.keys().next().value;
		if (this.done.size > this.capacity && oldest !== undefined) this.done.delete(oldest);
	}
}
