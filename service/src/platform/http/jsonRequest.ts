import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { isDeeper } from '../json.ts';
import { AppError, errorWithFix } from './errorCatalogue.ts';
import type { RateLimit } from './server/rateLimit.ts';
import { readBody } from './server/readBody.ts';

const MAX_BODY_BYTES = 256 * 1024;
/** Deeper than any endpoint takes. `JSON.stringify` recurses, and fails at some thousand levels. */
const MAX_DEPTH = 100;

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

/**
 * Bytes that are not UTF-8 are refused: decoding them would put replacement characters into a
 * customer's text.
 */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Counts the bytes of a router's requests by `bytes`, and those of its answers by `readBytes`. */
export const countBytesBy =
  (bytes: RateLimit, readBytes: RateLimit) =>
  (_request: Request, response: Response, next: NextFunction): void => {
    response.locals.bytes = bytes;
    response.locals.readBytes = readBytes;
    next();
  };

/** Reads a JSON body into `request.body`; an empty body is `{}`. */
export const readJsonBody: readonly RequestHandler[] = [requireJson, readJson];

/** @throws unsupported_media_type (415) */
function requireJson(request: Request, _response: Response, next: NextFunction): void {
  const type = request.headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type))
    refuseType(`Content-Type ${JSON.stringify(type.slice(0, 100))} is not accepted.`);
  if (type === undefined && hasBody(request)) refuseType('The body has no Content-Type.');
  next();
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

function refuseType(what: string): never {
  throw errorWithFix('unsupported_media_type', what);
}

/** @throws invalid_json, invalid_request (400) */
async function readJson(request: Request, response: Response, next: NextFunction): Promise<void> {
  const body = await readBody(request, response, {
    maxBytes: MAX_BODY_BYTES,
    bytes: response.locals.bytes as RateLimit | undefined,
  });
  let text = '{}';
  try {
    if (body.length > 0) text = UTF_8.decode(body);
    request.body = JSON.parse(text) as unknown;
  } catch {
    throw errorWithFix('invalid_json', 'The body is not valid JSON in UTF-8.');
  }
  if (isDeeper(text, MAX_DEPTH))
    throw new AppError(
      'invalid_request',
      `The body must not be nested deeper than ${MAX_DEPTH} levels.`,
    );
  next();
}

/** @throws invalid_request (400), naming the field */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: inOurWords });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  if (issue.code === 'unrecognized_keys') {
    const unknown = [...issue.path, issue.keys[0]!].map(String).join('.');
    throw new AppError('invalid_request', `${unknown} is not a known field.`, { param: unknown });
  }
  const isWrongType = issue.code === 'invalid_type';
  if (isWrongType && issue.path.length === 0)
    throw new AppError('invalid_request', 'The body must be a JSON object.');
  const param = issue.path.map(String).join('.');
  const isMissing = isWrongType && valueAt(value, issue.path) === undefined;
  const message = isMissing ? 'is missing' : issue.message;
  if (param === '') throw new AppError('invalid_request', `${message}.`);
  throw new AppError('invalid_request', `${param} ${message}.`, { param });
}

/** What to say where a schema has no message of its own. */
const inOurWords: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'invalid_type' && issue.expected === 'string' ? 'must be a string' : undefined;

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
