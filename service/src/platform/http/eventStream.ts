import { once } from 'node:events';
import type { Request, Response } from 'express';

/** How long a reader may take to read the rest of a stream that has ended. */
const LINGER_MS = 5000;

/** Begins server-sent events. A body that the client sends is discarded as it arrives. */
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
 * Writes a comment at each beat, so that proxies keep the connection open. Ends a connection whose
 * reader is behind at one beat and has not caught up by the next.
 * @returns a function that stops the beats
 */
export function beat(response: Response, everyMs: number): () => void {
  let isBehind = false;
  response.on('drain', () => (isBehind = false));
  const timer = setInterval(() => {
    if (isBehind) return void response.destroy();
    isBehind = response.writableNeedDrain;
    if (!isBehind) response.write(': beat\n\n');
  }, everyMs);
  return () => clearInterval(timer);
}

/**
 * Writes once the reader has taken what was written before, so that nothing piles up in memory.
 * @returns false when the stream has ended
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

/** Ends a response. A reader who does not take the rest in time is cut off. */
export function endSoon(response: Response): void {
  if (response.closed) return;
  const late = setTimeout(() => response.destroy(), LINGER_MS);
  response.once('close', () => clearTimeout(late));
  response.end();
}
