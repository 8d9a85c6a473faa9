import type { Dispatcher } from 'undici';
import { BoundedBody } from './boundedBody.ts';
import type { PooledConnection, PooledHandler } from './connectionPools.ts';
import { describeFailure, SEE_NETWORK } from './describeFailure.ts';
import { OutboundError } from './outboundError.ts';
import type { Target } from './targetUrl.ts';

/** One request to one address. */
export interface ExchangeRequest {
  target: Target;
  method: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** The deadline of the whole call, for messages. */
  timeoutMs: number;
  /** What earlier redirects have left of `timeoutMs`. */
  remainingMs: number;
  maxBytes: number;
  onTooLarge: 'cut' | 'fail';
  /** Whether this answer is a redirect that will be followed, so that its body does not matter. */
  isFollowed: (status: number, headers: Record<string, string>) => boolean;
  signal?: AbortSignal;
  /** Takes memory for the answer. */
  takeMemory: TakeMemory;
}

/**
 * Takes memory for more bytes. The caller that passes this function gives the memory back.
 * @returns true when the memory is taken now; otherwise `onTaken` is called once it is
 */
export type TakeMemory = (bytes: number, onTaken: () => void) => boolean;

/** The answer as it was sent: the body is still in its content encoding. */
export interface RawResponse {
  status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  headers: Record<string, string>;
  body: Buffer;
  /** Whether a part of the body is missing. */
  cut: boolean;
  /**
   * From the moment when a free connection took the request, or one was about to be opened for it.
   */
  durationMs: number;
}

const ANSWER_SOONER = 'Let it answer first and do its work afterwards.';

const durationInWords = (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

/** The memory that is taken first. It is enough for most answers. */
const FIRST_MEMORY_BYTES = 16 * 1024;
const REDIRECT_BODY_BYTES = 16 * 1024;

const singleValued = (
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> => {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value !== 'string') headers[name] = value?.join(', ') ?? '';
  }
  return headers as Record<string, string>;
};

/**
 * Receives one answer within one deadline. Before the headers have arrived, every failure is an
 * error. After that, with `onTooLarge: 'cut'`, a body that ends early (because of its size, the
 * deadline or a reset) is returned as far as it arrived.
 */
class Exchange implements PooledHandler {
  settled = false;
  readonly #request: ExchangeRequest;
  readonly #resolve: (response: RawResponse) => void;
  readonly #reject: (error: unknown) => void;

  #connection: PooledConnection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #body: BoundedBody;
  #mayCut: boolean;
  /** How many bytes of the answer fit into the memory taken so far; Infinity when all of them do. */
  #capacity = 0;

  constructor(
    request: ExchangeRequest,
    resolve: (response: RawResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#body = new BoundedBody(request.maxBytes);
    this.#mayCut = request.onTooLarge === 'cut';
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onConnectionAssigned(connection: PooledConnection) {
    this.#connection = connection;
    this.#startedAt = performance.now();
    this.#deadline = setTimeout(this.#onDeadline, this.#request.remainingMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
    if (this.settled) controller.abort(new Error('no longer wanted'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ) {
    if (status < 200) return; // an interim answer, such as 103
    this.#status = status;
    this.#headers = singleValued(headers);
    if (this.#request.isFollowed(status, this.#headers)) {
      this.#body = new BoundedBody(REDIRECT_BODY_BYTES);
      this.#mayCut = true;
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (this.settled) return;
    const needed = this.#growCapacity(chunk.length);
    const keepReading = () => {
      if (this.settled) return;
      this.#append(chunk);
      controller.resume();
    };
    if (needed === 0 || this.#request.takeMemory(needed, () => setImmediate(keepReading)))
      return this.#append(chunk);
    controller.pause(); // until the memory is taken
  }

  /**
   * Grows `#capacity` if these bytes do not fit: to a little at first, then to all that the answer
   * may still need, so that it can be read to its end. An encoded answer also needs memory for its
   * decoded form.
   * @returns how many bytes of memory to take before the bytes are kept
   */
  #growCapacity(bytes: number): number {
    const length = this.#body.bytes.length + bytes;
    if (length <= this.#capacity) return 0;
    const isEncoded = this.#headers['content-encoding'] !== undefined;
    if (!isEncoded && length <= FIRST_MEMORY_BYTES) return (this.#capacity = FIRST_MEMORY_BYTES);
    const { maxBytes } = this.#body;
    const all =
      Math.min(maxBytes, Number(this.#headers['content-length'] ?? maxBytes)) +
      (isEncoded ? maxBytes : 0);
    const taken = this.#capacity;
    this.#capacity = Infinity;
    return Math.max(0, all - taken);
  }

  #append(chunk: Buffer) {
    if (this.#body.append(chunk)) return;
    this.#endEarly(
      new OutboundError(
        'too_large',
        `${this.#host} answered with more than ${this.#request.maxBytes} bytes.`,
      ),
    );
  }

  onResponseEnd() {
    this.#succeed(false);
  }

  onResponseError(_controller: unknown, error: Error) {
    if (this.settled) return;
    if (this.#status !== 0 && this.#mayCut) this.#succeed(true);
    else this.#fail(describeFailure(error, this.#host));
  }

  get #host() {
    return this.#request.target.url.host;
  }

  readonly #onDeadline = () => {
    const advice = this.#controller ? ANSWER_SOONER : SEE_NETWORK;
    this.#endEarly(new OutboundError('timeout', this.#timeoutMessage(), { advice }));
  };

  readonly #onAbort = () => {
    const reason: unknown = this.#request.signal?.reason;
    this.#fail(reason);
    this.#letGo(reason instanceof Error ? reason : new Error('aborted'));
  };

  #timeoutMessage() {
    const time = durationInWords(this.#request.timeoutMs);
    if (this.#status !== 0)
      return `${this.#host} began to answer, but did not finish within ${time}.`;
    if (this.#controller) return `${this.#host} did not answer within ${time}.`;
    return `No connection to ${this.#host} was established within ${time}.`;
  }

  /** Ends the exchange before the answer has ended, with what has arrived or with the error. */
  #endEarly(error: OutboundError) {
    if (this.#status !== 0 && this.#mayCut) this.#succeed(true);
    else this.#fail(error);
    this.#letGo(error);
  }

  #letGo(reason: Error) {
    if (this.#controller) this.#controller.abort(reason);
    else this.#connection?.abandon(reason);
  }

  #succeed(cut: boolean) {
    if (!this.#settle()) return;
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      body: this.#body.bytes,
      cut,
      durationMs: performance.now() - this.#startedAt,
    });
  }

  #fail(error: unknown) {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.#deadline);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/** Sends one request and returns its answer. @throws OutboundError, or the signal's reason */
export const exchange = (dispatcher: Dispatcher, request: ExchangeRequest): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const { target, method, headers, body } = request;
    dispatcher.dispatch(
      {
        origin: target.origin,
        path: target.path,
        method: method as Dispatcher.HttpMethod,
        headers,
        body,
      },
      new Exchange(request, resolve, reject),
    );
  });
