/**
 * Like `AbortSignal.timeout`, but the timer ends with the block that declares the result with
 * `using`. The timer of `AbortSignal.timeout` always runs to its end, and until then everything
 * that listens to the signal stays in memory.
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
