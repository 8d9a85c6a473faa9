import { once } from 'node:events';
import type { Request, Response } from 'express';

/** What is left of an ended stream may take so long to leave. */
const LINGER_MS = 5000;

/**
 * Begins server-sent events. What a client sends along is thrown away: nothing of it waits in
 * memory.
 */
export function beginEvents(request: Request, response: Response, retryMs: number): void {
  request.resume();
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  response.write(`retry: ${retryMs}\n\n`);
}

/**
 * Keeps a connection in use, and ends one that took nothing from one beat to the next. Returns the
 * way to stop.
 */
export function beat(response: Response, everyMs: number): () => void {
  let isWaited = false;
  response.on('drain', () => (isWaited = false));
  const timer = setInterval(() => {
    if (isWaited) return void response.destroy();
    isWaited = response.writableNeedDrain;
    if (!isWaited) response.write(': beat\n\n');
  }, everyMs);
  return () => clearInterval(timer);
}

/**
 * Writes once what came before has been taken: a slow reader makes us wait, not hold all in memory.
 * @returns false when the stream ended before
 */
export async function writeInTurn(
  response: Response,
  text: string,
  ended: AbortSignal,
): Promise<boolean> {
  if (response.writableNeedDrain && !ended.aborted)
    await once(response, 'drain', { signal: ended }).catch(() => {});
  if (ended.aborted) return false;
  response.write(text);
  return true;
}

/** Ends a response; a reader who does not take the rest is cut off. */
export function endSoon(response: Response): void {
  if (response.closed) return;
  const late = setTimeout(() => response.destroy(), LINGER_MS);
  response.once('close', () => clearTimeout(late));
  response.end();
}
