/**
 * A signal as of `AbortSignal.timeout` whose timer ends with the block that declares it by `using`.
 * The other's timer goes on until the time is over, and keeps what surrounded the call in memory.
 */
export function deadlineAfter(ms: number): Disposable & { readonly signal: AbortSignal } {
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new DOMException(`Not done within ${ms} ms.`, 'TimeoutError')),
    ms,
  ).unref();
  return {
    signal: deadline.signal,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
