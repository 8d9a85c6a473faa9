import type { Document } from './store.ts';

/**
 * The document as JSON, once it is certain that reading that JSON gives the same document again.
 * Freezes it, nested parts too: memory and journal must never differ, and what was handed in or out
 * must not be changed in place.
 * @throws TypeError naming the first field that JSON cannot hold
 */
export const toJson = (collection: string, document: Document): string => {
  if (typeof document?.id !== 'string' || document.id === '') {
    throw new TypeError(`A document of ${collection} needs an id that is a string and not empty`);
  }
  try {
    freezeJson(document, '');
  } catch (error) {
    throw new TypeError(`${collection} ${document.id} cannot be stored: ${(error as Error).message}`);
  }
  return JSON.stringify(document);
};

/** Freezes a value that came from JSON.parse. */
export const freezeParsed = (value: object): void => {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freezeParsed(part);
  Object.freeze(value);
};

/** An undefined property is let pass: reading it back gives undefined too. */
const freezeJson = (value: unknown, path: string): void => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}`);
      return;
    case 'object':
      if (value !== null) freezeObject(value, path);
      return;
    default:
      throw new TypeError(`${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`);
  }
};

const freezeObject = (value: object, path: string): void => {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) freezeJson(value[i], `${path}[${i}]`);
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null && !isForeignPlain(prototype)) {
      throw new TypeError(`${path || 'it'} is a ${value.constructor?.name ?? 'object'}, no plain object`);
    }
    for (const key in value) {
      const part = (value as Record<string, unknown>)[key];
      if (part !== undefined) freezeJson(part, path === '' ? key : `${path}.${key}`);
    }
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') throw new TypeError(`${path || 'it'} has a toJSON`);
  }
  Object.freeze(value);
};

/** Objects of another realm (a vm context, as in jest) have an Object.prototype of their own. */
const isForeignPlain = (prototype: unknown) => Object.getPrototypeOf(prototype) === null && 'hasOwnProperty' in (prototype as object);
