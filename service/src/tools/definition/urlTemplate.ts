import {
  isPlaceholder,
  parsePlaceholders,
  splitParts,
  TemplateTextError,
  type Part,
} from './placeholders.ts';

/** The URL of a request template: a fixed origin, then segments and query pairs with placeholders. */
export interface UrlTemplate {
  /** As written: `https://api.example.com:8443`. */
  readonly origin: string;
  /** The path after its first slash, split at the others. `/` or no path is one empty segment. */
  readonly segments: readonly (readonly Part[])[];
  /** Each pair of the URL's own query, encoded as written: the name with its `=`, and the value. */
  readonly pairs: readonly (readonly [name: string, value: readonly Part[]])[];
}

const fail = (message: string): never => {
  throw new TemplateTextError(message);
};

const MAX_TEMPLATE_CHARACTERS = 4_096;

const ORIGIN = /^(https?:\/\/[^/?#\\\s]+)(.*)$/is;
const FORBIDDEN = /[\s\p{Cc}\\]/u;
const LOOSE_PERCENT = /%(?![0-9a-f]{2})/i;

function assertPlain(parts: readonly Part[]): void {
  for (const part of parts) {
    if (isPlaceholder(part)) continue;
    if (FORBIDDEN.test(part))
      fail('must not hold spaces, line breaks or backslashes; write a space as %20.');
    if (part.includes('#')) fail('must not carry a # part; it is never sent.');
    if (LOOSE_PERCENT.test(part))
      fail(
        'holds a % that is not followed by two hexadecimal digits; write a percent sign as %25.',
      );
  }
}

function splitOrigin(parts: readonly Part[]): [origin: string, rest: Part[]] {
  const [first, ...others] = parts;
  const [, origin, rest] = (typeof first === 'string' && ORIGIN.exec(first)) || [];
  const isFollowedByPlaceholder = others.length > 0 && rest === '';
  if (origin === undefined || isFollowedByPlaceholder) {
    return fail(
      parts.some(isPlaceholder)
        ? 'must begin with a fixed address, like https://api.example.com/; placeholders may stand in path and query only.'
        : 'must be an absolute address, like https://api.example.com/orders.',
    );
  }
  if (origin.includes('@'))
    fail(
      'must not carry a user name or password; send them in a header, like Authorization with {{secrets.NAME}}.',
    );
  if (!URL.canParse(origin))
    fail('is not a valid address; it must look like https://api.example.com/orders.');
  return [origin, rest === '' ? others : [rest!, ...others]];
}

function readPair(parts: readonly Part[]): [name: string, value: Part[]] {
  const [first = '', ...rest] = parts;
  // 0 when there is no `=`.
  const valueStart = isPlaceholder(first) ? 0 : first.indexOf('=') + 1;
  if (isPlaceholder(first) || (valueStart === 0 && rest.length > 0))
    return fail(
      'holds a placeholder in the name of a query parameter; placeholders may stand after the = only.',
    );
  if (valueStart === 0) return [first, []];
  const value = first.slice(valueStart);
  return [first.slice(0, valueStart), value === '' ? rest : [value, ...rest]];
}

/**
 * Reads the URL of a template. It does not check which hosts may be called.
 * @throws TemplateTextError for a URL that is not absolute, has credentials or a fragment, or has a
 * placeholder that is unknown or stands before the path
 */
export function parseUrlTemplate(text: string): UrlTemplate {
  if (text.length > MAX_TEMPLATE_CHARACTERS)
    fail(`must have at most ${MAX_TEMPLATE_CHARACTERS} characters.`);
  if (!text.isWellFormed()) fail('is not valid Unicode text.');
  const [origin, rest] = splitOrigin(parsePlaceholders(text));
  assertPlain(rest);
  const [path, ...queries] = splitParts(rest, '?');
  const segments = path!.length === 0 ? [[]] : splitParts(path!, '/').slice(1);
  // Only the first `?` begins the query; the others are put back.
  const query = queries.flatMap((parts, index) => (index === 0 ? parts : ['?', ...parts]));
  const pairs = query.length === 0 ? [] : splitParts(joinLiterals(query), '&').map(readPair);
  return { origin, segments, pairs };
}

/** Joins literals that follow each other. */
function joinLiterals(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string')
      joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

const ENCODED_ASCII = /%u00([0-7][0-9a-f])|%([0-7][0-9a-f])/gi;
/** `.` and `/` written in more bytes than they need, which some servers still accept. */
const OVERLONG = /%(?:c0|e0%80|f0%80%80)%(ae|af)/gi;
const MAX_LAYERS = 8;

/** Removes one layer of percent-encoding from ASCII characters. */
const decodeLayer = (text: string) =>
  text
    .replace(OVERLONG, (_all, end: string) => (end.toLowerCase() === 'ae' ? '.' : '/'))
    .replace(ENCODED_ASCII, (_all, wide: string | undefined, plain: string | undefined) =>
      String.fromCharCode(Number.parseInt((wide ?? plain)!, 16)),
    );

function decodeAll(text: string): string | null {
  let decoded = text;
  for (let layer = 0; layer < MAX_LAYERS; layer += 1) {
    const next = decodeLayer(decoded);
    if (next === decoded) return decoded;
    decoded = next;
  }
  return null;
}

/** A segment without what servers ignore: a `;` and what follows, white space, control characters. */
const bare = (piece: string) => piece.split(';')[0]!.replace(/[\s\p{C}]/gu, '');

/**
 * Whether a path segment is `.` or `..`, or may become so on a server that decodes it again or
 * replaces look-alike characters.
 */
export function isDotSegment(segment: string): boolean {
  const decoded = decodeAll(segment);
  if (decoded === null) return true;
  return decoded
    .normalize('NFKC')
    .split(/[/\\]/)
    .some((piece) => /^\.{1,2}$/.test(bare(piece)));
}
