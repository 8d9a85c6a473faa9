import type { EndingResponse } from '../shared/onEnd';
import { onEnd } from '../shared/onEnd';

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

/** How long a delivery may be in flight before it counts as lost. */
const MAX_FLIGHT_MS = 60 * 60 * 1000;

/**
 * Remembers the deliveries that this process has accepted, so that a repeat starts no second execution.
 *
 * A delivery counts as done once n8n has ended its response with a 2xx. n8n starts the execution after
 * the trigger returns and may still answer 500. Then the repeat must start it. Until then the delivery
 * is in flight, even after the service has hung up: an n8n at its limit of executions stores the
 * execution first, and answers only when it may run.
 *
 * Keeps the newest `capacity` deliveries (10,000 by default, about 2 MB). An older delivery would
 * be accepted again, and so would one that is in flight for more than an hour. Everything is in
 * memory: after a restart, or in a second webhook process of n8n, nothing is remembered.
 */
export class DeliveryMemory {
	private readonly inFlight = new Map<string, { attempt: DeliveryAttempt; since: number }>();

	private readonly done = new Map<string, DeliveryAttempt>();

	private readonly capacity: number;

	private readonly now: () => number;

	constructor(capacity = 10_000, now: () => number = Date.now) {
		this.capacity = capacity;
		this.now = now;
	}

	/** The state of a delivery that has arrived. It is new if somebody asked for it since the last time. */
	stateOf(key: string, attempt: DeliveryAttempt): DeliveryState {
		this.forgetLost();
		const [done, inFlight] = [this.done.get(key), this.inFlight.get(key)];
		if (done && !isAskedAfter(attempt, done)) return 'done';
		return inFlight && !isAskedAfter(attempt, inFlight.attempt) ? 'in_flight' : 'new';
	}

	/** Remembers the delivery when n8n ends its response with a 2xx, even if the caller has hung up. */
	follow(key: string, response: EndingResponse, attempt: DeliveryAttempt): void {
		this.inFlight.delete(key); // The Map stays in the order of time.
		this.inFlight.set(key, { attempt, since: this.now() });
		onEnd(response, () => {
			if (this.inFlight.get(key)?.attempt === attempt) this.inFlight.delete(key);
			if (response.statusCode >= 200 && response.statusCode < 300) this.remember(key, attempt);
		});
	}

	private forgetLost(): void {
		const oldest = this.now() - MAX_FLIGHT_MS;
		for (const [key, { since }] of this.inFlight) {
			if (since >= oldest) break;
			this.inFlight.delete(key);
		}
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
