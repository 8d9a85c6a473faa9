import { openOrNull, type SecretBox } from '../../platform/security/secretBox.ts';
import type { Document } from '../../store/store.ts';

/** What a sealed value looks like: its version, then at least 28 bytes in base64url. */
const SEALED = /^v1\.[A-Za-z0-9_-]{38,}$/;

/**
 * Seals again, with `to`, every value that `from` sealed in a document, at any depth. Whatever
 * `from` opens counts as sealed: no list of sealed fields is needed, and no field is missed.
 * @returns the same object when it holds no sealed value
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
  const secret = openOrNull(from, sealed);
  return secret === null ? sealed : to.seal(secret); // null: it only looks like a sealed value
}
