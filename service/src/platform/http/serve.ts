import type { Request, RequestHandler, Response, Router } from 'express';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { withShares, type ConnectionShares } from '../limits/connectionShares.ts';
import { answerOnce, type StoredAnswer } from './answerOnce.ts';
import { callerOf, type Caller } from './caller.ts';
import type { Operation } from './operation.ts';
import { parse, readJsonBody } from './jsonRequest.ts';
import { byAddress, type RateLimit } from './server/rateLimit.ts';
import { writeJson } from './writtenJson.ts';

interface Call<Query, Body> {
  /** Each call has its own, so that a write and its stored answer are in one transaction. */
  readonly deps: Deps;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

/**
 * Serves one operation of the contract: parses the request with its schemas, calls the handler and
 * sends what it returns. The handler succeeds at most once in 24 hours for an Idempotency-Key.
 * @param finish turns the stored answer into the one that is sent, after the write has committed
 * @param check runs before the write and outside any transaction, so it may make outbound calls. It
 * refuses by throwing. It is not called when the answer is stored already
 */
export function serve<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  router: Router,
  deps: Deps,
  operation: Operation<Query, Body, Answer>,
  handle: (call: Call<z.output<Query>, z.output<Body>>) => Promise<z.input<Answer>>,
  finish?: (answer: z.input<Answer>, caller: Caller) => Promise<z.input<Answer>>,
  check?: (call: Call<z.output<Query>, z.output<Body>>) => Promise<void>,
): void {
  const { method, path, status, addsToStore } = operation;
  const assertAllowed: RequestHandler = (_request, response, next) => {
    const caller = callerOf(response);
    caller?.assertMay?.(operation);
    if (addsToStore !== undefined) deps.assertRoom(addsToStore, caller?.workspace.id ?? null);
    next();
  };

  const answerCall = async (request: Request, response: Response): Promise<StoredAnswer> => {
    const call = parseCall(operation, request, response);
    const shares = request.app.locals.connectionShares as ConnectionShares | null;
    const sharedDeps = withShares(deps, shares, () => callerOf(response)?.workspace.id);
    if (method === 'get') {
      const found = await handle({ ...call, deps: sharedDeps });
      return { status, body: await countRead(request, response, () => writeJson(found)) };
    }
    const run = async (callDeps: Deps) => {
      const done = await handle({ ...call, deps: callDeps });
      return { status: operation.continues?.(done) ? 202 : status, body: writeJson(done) };
    };
    const checkCall = check && (() => check({ ...call, deps: sharedDeps }));
    return answerOnce(sharedDeps, operation, request, callerOf(response), run, checkCall);
  };

  router[method](
    path,
    assertAllowed,
    ...(operation.body ? readJsonBody : []),
    async (request: Request, response: Response) => {
      const answer = await answerCall(request, response);
      if (finish === undefined || answer.status !== status)
        return sendJson(response, answer.status, answer.body);
      const stored = JSON.parse(answer.body) as z.input<Answer>;
      sendJson(response, status, JSON.stringify(await finish(stored, callerOf(response)!)));
    },
  );
}

/** @throws invalid_request (400) */
function parseCall<Query extends z.ZodType, Body extends z.ZodType>(
  { query, body }: Operation<Query, Body>,
  request: Request,
  response: Response,
): Omit<Call<z.output<Query>, z.output<Body>>, 'deps'> {
  return {
    caller: callerOf(response)!,
    params: request.params as Record<string, string>,
    query: (query ? parse(query, request.query) : undefined) as z.output<Query>,
    body: (body ? parse(body, request.body ?? {}) : undefined) as z.output<Body>,
  };
}

/**
 * Counts the bytes of an answer for the reader's address, on routes that count them. An address
 * over its budget is refused before the text is made. An address with any budget left gets the
 * whole answer, however large.
 */
async function countRead(
  request: Request,
  response: Response,
  toText: () => string,
): Promise<string> {
  const { readBytes } = response.locals as { readBytes?: RateLimit };
  if (readBytes === undefined) return toText();
  const address = byAddress(request);
  await readBytes.spend(address, 0);
  const text = toText();
  await readBytes.spend(address, Buffer.byteLength(text)).catch(() => {});
  return text;
}

/** Like `response.send`, without its checks: the type is known, and there is no ETag. */
function sendJson(response: Response, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
