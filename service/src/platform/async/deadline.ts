/**
 * Like `AbortSignal.timeout`, but its timer ends with the block that declares it with `using`. The
 * timer of `AbortSignal.timeout` runs to its end, and until then keeps all in memory that the call used.
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
