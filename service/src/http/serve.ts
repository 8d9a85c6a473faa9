import type { NextFunction, Request, RequestHandler, Response, Router } from 'express';
import type { z } from 'zod';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import type { Deps } from '../domain/deps.ts';
import type { ConnectionShares } from '../limits/connectionShares.ts';
import { answerOnce } from './answerOnce.ts';
import type { Caller } from './authentication.ts';
import type { Operation } from './contract/operation.ts';
import { byAddress, type RateLimit } from './rateLimit.ts';
import { readBody } from './readBody.ts';
import { writeJson } from './writtenJson.ts';

export const MAX_BODY_BYTES = 256 * 1024;

export interface Call<Query, Body> {
  /** Given anew to each call: its writes and the kept answer are one transaction. */
  readonly deps: Deps;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

/**
 * Serves one operation of the contract: parses the request by its schemas, calls the handler once
 * (for an Idempotency-Key: once in 24 hours) and sends what it returns.
 * @param finish makes of the kept answer the one that is sent, outside of the write: for what goes
 * on after it
 */
export function serve<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  router: Router,
  deps: Deps,
  operation: Operation<Query, Body, Answer>,
  handle: (call: Call<z.output<Query>, z.output<Body>>) => Promise<z.input<Answer>>,
  finish?: (answer: z.input<Answer>, caller: Caller) => Promise<z.input<Answer>>,
): void {
  const readBody = operation.body ? [requireJson, readJson] : [];
  const { adds } = operation;
  const assertRoom: RequestHandler[] =
    adds === undefined
      ? []
      : [
          (_request, response, next) => (
            deps.assertRoom(
              adds,
              (response.locals.caller as Caller | undefined)?.workspace.id ?? null,
            ),
            next()
          ),
        ];
  router[operation.method](
    operation.path,
    ...assertRoom,
    ...readBody,
    async (request: Request, response: Response) => {
      const call = {
        caller: response.locals.caller as Caller,
        params: request.params as Record<string, string>,
        query: (operation.query
          ? parse(operation.query, request.query)
          : undefined) as z.output<Query>,
        body: (operation.body
          ? parse(operation.body, request.body ?? {})
          : undefined) as z.output<Body>,
      };
      const own = withShare(
        deps,
        request.app.locals.connectionShares as ConnectionShares | null,
        call.caller,
      );
      const run = async (callDeps: Deps) => ({
        status: operation.status as number,
        body: writeJson(await handle({ ...call, deps: callDeps })),
      });
      const read = async () => {
        const found = await handle({ ...call, deps: own });
        return {
          status: operation.status as number,
          body: await readWithin(request, response, () => writeJson(found)),
        };
      };
      const answer =
        operation.method === 'get'
          ? await read()
          : await answerOnce(own, operation, request, call.caller, run);
      const isDone = finish === undefined || answer.status !== operation.status;
      const body = isDone
        ? answer.body
        : JSON.stringify(await finish(JSON.parse(answer.body) as z.input<Answer>, call.caller));
      sendJson(response, answer.status, body);
    },
  );
}

/**
 * Makes the text of what was read, and counts it where reads are counted. It is not made where too
 * much was read before; an answer that is larger than all that is left is given whole.
 */
async function readWithin(
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

/**
 * Where connections to the database are shared, each transaction of a workspace waits for its turn
 * before it takes one.
 */
function withShare(deps: Deps, shares: ConnectionShares | null, caller: Caller | undefined): Deps {
  if (shares === null || caller === undefined) return deps;
  const { id } = caller.workspace;
  return {
    ...deps,
    store: { transaction: (fn) => shares.run(id, () => deps.store.transaction(fn)) },
  };
}

/**
 * As `response.send`, without its looking again at what is known here: the type, and that there is
 * no ETag.
 */
function sendJson(response: Response, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

/** Where a router says by what the bytes of its bodies are counted, and those of what it reads. */
export const countBytesBy =
  (bytes: RateLimit, readBytes: RateLimit) =>
  (_request: Request, response: Response, next: NextFunction): void => {
    response.locals.bytes = bytes;
    response.locals.readBytes = readBytes;
    next();
  };

/**
 * What is no UTF-8 is no JSON either; decoding would put replacement signs into a customer's text.
 */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** @throws invalid_json (400) */
async function readJson(request: Request, response: Response, next: NextFunction): Promise<void> {
  const body = await readBody(request, response, {
    maxBytes: MAX_BODY_BYTES,
    bytes: response.locals.bytes as RateLimit | undefined,
  });
  try {
    request.body = body.length === 0 ? {} : (JSON.parse(UTF_8.decode(body)) as unknown);
  } catch {
    throw new AppError(
      'invalid_json',
      `The body is not valid JSON in UTF-8. ${ERROR_CATALOGUE.invalid_json.fix}`,
    );
  }
  next();
}

/** @throws unsupported_media_type (415) */
function requireJson(request: Request, _response: Response, next: NextFunction): void {
  const type = request.headers['content-type'];
  if (
    type !== undefined &&
    !/^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i.test(type)
  ) {
    throw new AppError(
      'unsupported_media_type',
      `Content-Type ${JSON.stringify(type.slice(0, 100))} is not accepted. ${ERROR_CATALOGUE.unsupported_media_type.fix}`,
    );
  }
  if (type === undefined && request.headers['content-length'] !== '0' && hasBody(request)) {
    throw new AppError(
      'unsupported_media_type',
      `The body has no Content-Type. ${ERROR_CATALOGUE.unsupported_media_type.fix}`,
    );
  }
  next();
}

const hasBody = (request: Request) =>
  request.headers['content-length'] !== undefined ||
  request.headers['transfer-encoding'] !== undefined;

/** @throws invalid_request (400), naming the field */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  if (issue.code === 'invalid_type' && issue.path.length === 0)
    throw new AppError('invalid_request', 'The body must be a JSON object.');
  const param = issue.path.map(String).join('.');
  const missing =
    issue.code === 'invalid_type' &&
    issue.path.length > 0 &&
    valueAt(value, issue.path) === undefined;
  const message = missing ? 'is missing' : issue.message;
  throw new AppError(
    'invalid_request',
    param ? `${param} ${message}.` : `${message}.`,
    param ? { param } : {},
  );
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
