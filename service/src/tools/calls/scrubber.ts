/**
 * Removes secrets from what is stored or shown, such as an answer that repeats the request's headers.
 */

/** Shown in place of a secret. */
export const SECRET_PLACE = '[secret]';

/** Replacing a shorter secret would damage ordinary words. */
const MIN_SECRET_LENGTH = 4;

const lowerHex = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

/** `encodeURIComponent` does not encode `!'()*`; other languages do. */
const strictUri = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * The secret URL-encoded in three ways: by `encodeURIComponent`, strictly, and as in a form. Each with
 * upper-case and lower-case hexadecimal digits.
 */
function urlSpellings(secret: string): string[] {
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  const spellings = [encodeURIComponent(secret), strictUri(secret), form];
  return [...spellings, ...spellings.map(lowerHex)];
}

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** What JSON encoders escape besides what ours does: those of Go and Rails, and that of .NET. */
const ESCAPED_ELSEWHERE = [/[<>&]/g, /\\"|[<>&'+`]/g];

/**
 * The secret in a JSON string: as we write it, in ASCII only, and as other languages write both. Each
 * also with escaped slashes.
 */
function jsonSpellings(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1);
  const ascii = plain.replace(/[\x7f-\uffff]/g, escapeUnit);
  const escaped = [plain, ascii].flatMap((text) =>
    ESCAPED_ELSEWHERE.map((signs) => text.replace(signs, (sign) => escapeUnit(sign.at(-1)!))),
  );
  const lower = [plain, ascii, ...escaped];
  const capital = lower.map((text) =>
    text.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`),
  );
  const spellings = [...lower, ...capital];
  return [...spellings, ...spellings.map((text) => text.replaceAll('/', '\\/'))];
}

/**
 * The part of a longer text's base64 that depends on the secret alone. Base64 encodes groups of
 * three bytes, so there is one for each `shift`: how many bytes into a group the secret begins.
 */
function base64Inside(secret: Buffer, shift: 0 | 1 | 2): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), secret]).toString('base64');
  const bits = (shift + secret.length) * 8;
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(bits / 6));
}

function base64Spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const padded = bytes.toString('base64');
  const spellings = [
    padded,
    padded.replace(/=+$/, ''),
    ...([0, 1, 2] as const).map((shift) => base64Inside(bytes, shift)),
  ];
  return [...spellings, ...spellings.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}

function spellingsOf(secret: string): string[] {
  const text = secret.toWellFormed();
  return [secret, ...urlSpellings(text), ...jsonSpellings(text), ...base64Spellings(text)];
}

type Range = [start: number, end: number];

function occurrences(text: string, spelling: string): Range[] {
  const found: Range[] = [];
  for (
    let at = text.indexOf(spelling);
    at !== -1;
    at = text.indexOf(spelling, at + spelling.length)
  )
    found.push([at, at + spelling.length]);
  return found;
}

/**
 * Sorts ranges and joins those that overlap, so that the end of an overlapped secret is replaced too.
 */
function merge(ranges: Range[]): Range[] {
  const merged: Range[] = [];
  for (const [start, end] of ranges.sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

function replaceRanges(text: string, ranges: readonly Range[]): string {
  let from = 0;
  let result = '';
  for (const [start, end] of ranges) {
    result += text.slice(from, start) + SECRET_PLACE;
    from = end;
  }
  return result + text.slice(from);
}

/**
 * Returns a function that replaces each secret in a text with `[secret]`. It finds the secret as it
 * is, without the white space around it, URL-encoded, JSON-escaped, and in base64 or base64url,
 * even inside a longer encoded text (`user:secret`). Secrets of fewer than four characters stay.
 */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets
    .flatMap((secret) => [secret, secret.trim()])
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const spellings = [...new Set(known.flatMap(spellingsOf))];
  return (text) => {
    const ranges = spellings.flatMap((spelling) => occurrences(text, spelling));
    return ranges.length === 0 ? text : replaceRanges(text, merge(ranges));
  };
}
