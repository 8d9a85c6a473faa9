import type { EndingResponse } from './onEnd';
import { onEnd } from './onEnd';

/** The part of an HTTP response that `CallMemory` writes to and watches. */
export interface AnsweringResponse extends EndingResponse {
	getHeader(name: string): unknown;
	setHeader(name: string, value: string): unknown;
	// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as node declares it: overloads
	write(...args: any[]): any;
	once(event: 'close', listener: () => void): unknown;
}

interface Answer {
	status: number;
	contentType: string;
	body: Buffer;
}

interface RunningCall {
	since: number;
	waiting: Set<AnsweringResponse>;
}

export interface MemoryLimits {
	/** The most answers that are kept. */
	count: number;
	/** The most bytes of all answers that are kept. */
	bytes: number;
	/** The most bytes of one answer. The service does not read more. */
	answerBytes: number;
	/** How long a call is remembered after it was answered, or after it arrived if it was not. */
	ageMs: number;
}

const LIMITS: MemoryLimits = {
	count: 10_000,
	bytes: 32 * 1024 * 1024,
	answerBytes: 1024 * 1024,
	ageMs: 60 * 60 * 1000,
};

/**
 * Remembers the calls that this process has received and that expect an answer (tool calls, turns
 * of the agent), so that a repeat does not run the workflow again. The repeat gets the answer to
 * the first call, with its status and content type, or waits for it, even if the first call failed
 * or its caller has hung up: the service repeats a call after a time-out and after a 5xx.
 *
 * Keeps the newest 10,000 answers, up to 32 MiB in all, each for an hour. Forgets a call without an
 * answer an hour after it arrived. When an answer is larger than 1 MiB, which the service does not
 * read, a repeat gets a 422 that says so. Everything is in memory: after a restart, or in a second
 * webhook process of n8n, a repeat runs the workflow again.
 */
export class CallMemory {
	private readonly running = new Map<string, RunningCall>();

	private readonly answers = new Map<string, Answer & { at: number }>();

	private bytes = 0;

	private readonly limits: MemoryLimits;

	private readonly now: () => number;

	/** @param now in milliseconds; no change of the system's time may move it */
	constructor(limits: Partial<MemoryLimits> = {}, now: () => number = () => performance.now()) {
		this.limits = { ...LIMITS, ...limits };
		this.now = now;
	}

	/** Remembers a call that arrived for the first time, and the answer that it gets. */
	follow(key: string, response: AnsweringResponse): void {
		const call: RunningCall = { since: this.now(), waiting: new Set() };
		this.running.set(key, call);
		captureAnswer(response, this.limits.answerBytes, (answer) => {
			// A call that took so long that it was forgotten may have come again since.
			if (this.running.get(key) === call) this.running.delete(key);
			this.remember(key, answer);
			for (const repeated of call.waiting) send(repeated, answer);
		});
	}

	/**
	 * Answers a repeated call, now or when the first one is answered.
	 * @returns false when the call is not a repeat; then nothing is answered
	 */
	repeat(key: string, response: AnsweringResponse): boolean {
		this.forgetOld();
		const answer = this.answers.get(key);
		const call = this.running.get(key);
		if (answer) {
			send(response, answer);
		} else if (call) {
			call.waiting.add(response);
			response.once('close', () => call.waiting.delete(response));
		}
		return Boolean(answer ?? call);
	}

	/** How much is remembered. For tests. */
	get size(): { running: number; waiting: number; answers: number; bytes: number } {
		const waiting = [...this.running.values()].reduce((sum, call) => sum + call.waiting.size, 0);
		return {
			running: this.running.size,
			waiting,
			answers: this.answers.size,
			bytes: this.bytes,
		};
	}

	private remember(key: string, answer: Answer): void {
		this.forgetAnswer(key);
		this.answers.set(key, { ...answer, at: this.now() });
		this.bytes += answer.body.length;
		this.forgetOld();
	}

	/** Forgets what is too old, and the oldest answers (the first in the Map) if there are too many. */
	private forgetOld(): void {
		const oldest = this.now() - this.limits.ageMs;
		for (const [key, { since }] of this.running) {
			if (since >= oldest) break;
			this.running.delete(key);
		}
		for (const [key, { at }] of this.answers) {
			const fits = this.answers.size <= this.limits.count && this.bytes <= this.limits.bytes;
			if (fits && at >= oldest) break;
			this.forgetAnswer(key);
		}
	}

	private forgetAnswer(key: string): void {
		this.bytes -= this.answers.get(key)?.body.length ?? 0;
		this.answers.delete(key);
	}
}

const TOO_LARGE: Answer = {
	status: 422,
	contentType: 'application/json; charset=utf-8',
	body: Buffer.from('{"message":"The answer of this call was larger than 1 MiB."}'),
};

/** Captures what is written to a response until it is ended. */
function captureAnswer(
	response: AnsweringResponse,
	maxBytes: number,
	onAnswer: (answer: Answer) => void,
): void {
	const chunks: Buffer[] = [];
	let bytes = 0;
	const capture = (chunk: unknown, encoding: unknown) => {
		const captured = toBuffer(chunk, encoding);
		bytes += captured.length;
		if (bytes <= maxBytes) chunks.push(captured);
	};
	const { write } = response;
	response.write = (...args: unknown[]) => {
		capture(args[0], args[1]);
		return write.apply(response, args) as unknown;
	};
	onEnd(response, (chunk, encoding) => {
		capture(chunk, encoding);
		const contentType = response.getHeader('content-type');
		onAnswer(
			bytes > maxBytes
				? TOO_LARGE
				: {
						status: response.statusCode,
						contentType: typeof contentType === 'string' ? contentType : '',
						body: Buffer.concat(chunks),
					},
		);
	});
}

function toBuffer(chunk: unknown, encoding: unknown): Buffer {
	if (typeof chunk === 'string') {
		return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
	}
	return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.alloc(0);
}

function send(response: AnsweringResponse, { status, contentType, body }: Answer): void {
	response.statusCode = status;
	if (contentType) response.setHeader('Content-Type', contentType);
	response.end(body);
}
