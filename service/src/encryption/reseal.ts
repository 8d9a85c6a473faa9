import type { SecretBox } from '../security/secretBox.ts';
import type { Document } from '../store/store.ts';

/** What a sealed value looks like: 28 bytes or more behind its version. */
const SEALED = /^v1\.[A-Za-z0-9_-]{38,}$/;

/**
 * The document with each value that one key has sealed sealed with another, wherever in it that
 * stands. A value is known by the key opening it, which nothing else passes: so no list of fields
 * has to be kept, and none can be forgotten.
 * @returns the very same document when it holds no such value
 */
export function reseal<Doc extends Document>(document: Doc, from: SecretBox, to: SecretBox): Doc {
  return resealValue(document, from, to) as Doc;
}

function resealValue(value: unknown, from: SecretBox, to: SecretBox): unknown {
  if (typeof value === 'string') return SEALED.test(value) ? resealText(value, from, to) : value;
  if (typeof value !== 'object' || value === null) return value;
  const before = Object.entries(value);
  const after = before.map(([name, part]) => [name, resealValue(part, from, to)] as const);
  if (after.every(([, part], index) => part === before[index]![1])) return value;
  return Array.isArray(value) ? after.map(([, part]) => part) : Object.fromEntries(after);
}

function resealText(sealed: string, from: SecretBox, to: SecretBox): string {
  let secret: string;
  try {
    secret = from.open(sealed);
  } catch {
    return sealed; // a text that only looks like one
  }
  return to.seal(secret);
}
