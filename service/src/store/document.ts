import type { Document, Job } from './store.ts';

/**
 * The document as JSON that reads back as the same document. Freezes it deeply, because memory and
 * journal must never differ.
 * @throws TypeError naming the first field that JSON cannot hold
 */
export const toJson = (collection: string, document: Document): string => {
  if (typeof document?.id !== 'string' || document.id === '') {
    throw new TypeError(`A document of ${collection} needs an id that is a string and not empty`);
  }
  try {
    freezeJson(document, '');
  } catch (error) {
    throw new TypeError(
      `${collection} ${document.id} cannot be stored: ${(error as Error).message}`,
    );
  }
  return JSON.stringify(document);
};

/**
 * Freezes values from JSON.parse. Equal ids and times share one string, as they did before the
 * restart; otherwise the store would take a sixth more memory.
 */
export class ParsedDocuments {
  /** Cleared when full. Little is lost, because equal texts are mostly close to each other. */
  private readonly seen = new Map<string, string>();

  freeze(value: object): void {
    const parts = value as Record<string, unknown>;
    // Twice as fast as for…in, which matters at a start with a million documents.
    for (const key of Object.keys(parts)) {
      const part = parts[key];
      if (typeof part === 'string') {
        if (part.length >= MIN_SHARED_CHARACTERS && part.length <= MAX_SHARED_CHARACTERS)
          parts[key] = this.shared(part);
      } else if (typeof part === 'object' && part !== null) this.freeze(part);
    }
    Object.freeze(value);
  }

  private shared(text: string): string {
    const known = this.seen.get(text);
    if (known !== undefined) return known;
    if (this.seen.size >= MAX_SEEN) this.seen.clear();
    this.seen.set(text, text);
    return text;
  }
}

/** V8 itself shares strings of up to 10 characters that it parses. */
const MIN_SHARED_CHARACTERS = 11;
/** Ids have about 30 characters, timestamps 29. */
const MAX_SHARED_CHARACTERS = 40;
/** This many strings take a few MiB. */
const MAX_SEEN = 20_000;

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
      throw new TypeError(
        `${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`,
      );
  }
};

/** Allows an undefined property, which reads back as undefined too. */
const freezeObject = (value: object, path: string): void => {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) freezeJson(value[i], `${path}[${i}]`);
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      throw new TypeError(
        `${path || 'it'} is a ${value.constructor?.name ?? 'object'}, not a plain object`,
      );
    }
    for (const key in value) {
      const part = (value as Record<string, unknown>)[key];
      if (part !== undefined) freezeJson(part, path === '' ? key : `${path}.${key}`);
    }
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
      throw new TypeError(`${path || 'it'} has a toJSON`);
  }
  Object.freeze(value);
};

/** The job as it was enqueued, without what a store or a file has added. */
export const plainJob = ({ id, queue, group, runAt, rank, data }: Job): Job => ({
  id,
  queue,
  group,
  runAt,
  rank,
  data,
});

/** @throws TypeError */
export function assertJobTime(id: string, { runAt, rank }: Pick<Job, 'runAt' | 'rank'>): void {
  if (!Number.isFinite(runAt) || !Number.isInteger(rank))
    throw new TypeError(`job ${id}: runAt must be a number and rank a whole number`);
}

/**
 * Checks a dumped job.
 * @returns the job without any other properties
 * @throws TypeError when a property is missing
 */
export const checkJob = (job: Job): Job => {
  const { id, queue, group, runAt, rank, data } = job;
  const isJob =
    typeof queue === 'string' &&
    typeof group === 'string' &&
    Number.isFinite(runAt) &&
    Number.isInteger(rank) &&
    typeof data === 'object' &&
    data !== null;
  if (!isJob) throw new TypeError(`job ${id} lacks its queue, group, time, rank or data`);
  return plainJob(job);
};
