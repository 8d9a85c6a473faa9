import { RE2JS } from 're2js';
import { shorten } from './shorten.ts';

/**
 * Runs the patterns of a tool's parameters on RE2, whose time grows linearly with the text. On
 * JavaScript's own engine, a pattern such as `(a+)+$` could stop the process for hours on a short
 * text. RE2's time also grows with the compiled program, so the size of programs is bounded, and so
 * is the work of one check or turn.
 * @see docs/decisions/0030-text-costs-what-its-length-costs.md
 */

const MAX_PATTERN_CHARACTERS = 1_000;

/** The most instructions that all patterns of one schema may compile to. */
const MAX_PROGRAM_SIZE = 20_000;

/**
 * The largest `patternSize` that is compiled. Twice the size of the program, since RE2 makes
 * `(?:a|b)` smaller than `patternSize` estimates.
 */
const MAX_PATTERN_SIZE = 2 * MAX_PROGRAM_SIZE;

/** Instructions times characters. This much takes about an eighth of a second. */
const WORK_PER_CHECK = 16_000_000;

/** Compiling one instruction costs about as much as matching it with this many characters. */
const WORK_TO_COMPILE = 600;

/** Thrown when compiling or matching costs more than a check or a turn may. */
export class PatternBudgetError extends Error {
  override readonly name = 'PatternBudgetError';
}

/** Counts what patterns may still cost in one check, or in one turn of the agent. */
export class PatternWork {
  #left: number;

  /** @param most instructions times characters; a hundred million take about a second */
  constructor(most: number) {
    this.#left = most;
  }

  /** True once `spend` has refused something. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** @throws PatternBudgetError when too little is left, and on every call after that */
  spend(work: number, what: string): void {
    this.#left -= work;
    if (this.#left < 0) throw new PatternBudgetError(`${what} takes too long on texts this long.`);
  }
}

/** In JavaScript, `\k<name>` refers back to a group. RE2 would read it as letters. */
const NAMED_REFERENCE = /^(?:[^\\]|\\[^k])*\\k</s;

const excerpt = (pattern: string) => JSON.stringify(shorten(pattern, 80));

const USE_RE2_SYNTAX =
  'Write it without lookahead, lookbehind and references to groups (RE2 syntax).';

class PatternTooLarge extends Error {}

/**
 * @throws PatternTooLarge before it compiles anything
 * @throws Error whose message names, in a few words, what RE2 does not support
 */
function compile(pattern: string): RE2JS {
  if (NAMED_REFERENCE.test(pattern)) throw new Error('reference to a named group');
  if (patternSize(pattern) > MAX_PATTERN_SIZE) throw new PatternTooLarge();
  return RE2JS.compile(RE2JS.translateRegExp(pattern));
}

const tooLarge = (pattern: string, param: string) =>
  new ParametersError(
    param,
    `${param} holds the pattern ${excerpt(pattern)}: the patterns of this schema are too large; use fewer, or smaller counts in {…}.`,
  );

function compileOrRefuse(pattern: string, param: string): RE2JS {
  if (pattern.length > MAX_PATTERN_CHARACTERS)
    throw new ParametersError(
      param,
      `${param} holds a pattern longer than ${MAX_PATTERN_CHARACTERS} characters; shorten it.`,
    );
  try {
    return compile(pattern);
  } catch (error) {
    if (error instanceof PatternTooLarge) throw tooLarge(pattern, param);
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : '';
    throw new ParametersError(
      param,
      `${param} holds the pattern ${excerpt(pattern)}, which cannot be used: ${reason.slice(0, 160)}. ${USE_RE2_SYNTAX}`,
    );
  }
}

/**
 * What ajv expects of an expression. ajv keeps one Matcher for each text that `toString` returns.
 */
interface Matcher {
  test(text: string): boolean;
  toString(): string;
}

/** The patterns of one schema. */
export class LinearPatterns {
  readonly #compiled = new Map<string, RE2JS>();
  #size = 0;
  #work = new PatternWork(0);

  /**
   * Compiles a pattern once.
   * @param param the pattern's place, for the error
   * @throws ParametersError when RE2 does not support it, or when the patterns are too large
   * together
   */
  add(pattern: string, param: string): void {
    if (this.#compiled.has(pattern)) return;
    const compiled = compileOrRefuse(pattern, param);
    this.#compiled.set(pattern, compiled);
    this.#size += compiled.programSize();
    if (this.#size > MAX_PROGRAM_SIZE) throw tooLarge(pattern, param);
  }

  /** Begins a new check, which may spend the full WORK_PER_CHECK. */
  refill(): void {
    this.#work = new PatternWork(WORK_PER_CHECK);
  }

  /** ajv's option `code.regExp`: looks up the patterns that were added. */
  get engine(): { (pattern: string): Matcher; code: string } {
    return Object.assign((pattern: string) => this.#matcher(pattern), { code: 'linearPattern' });
  }

  #matcher(pattern: string): Matcher {
    const compiled = this.#compiled.get(pattern) ?? compile(pattern);
    const size = compiled.programSize();
    const test = (text: string) => {
      this.#work.spend(size * (text.length + 1), `The pattern ${excerpt(pattern)}`);
      return compiled.test(text);
    };
    return { test, toString: () => pattern };
  }
}

/** A place in a text where a pattern matches. */
interface PatternMatch {
  readonly value: string;
  readonly at: number;
}

/** Searches texts for a pattern, within the bounds of a `PatternWork`. */
interface PatternFinder {
  /** The first `most` matches, in the order of the text. @throws PatternBudgetError */
  find(text: string, most: number): readonly PatternMatch[];
  /** @throws PatternBudgetError */
  test(text: string): boolean;
}

/**
 * Live tools use the same patterns at every turn, so compiled patterns are kept, up to about 20 MB.
 * Beyond that, the oldest are forgotten first.
 */
const MAX_REMEMBERED_SIZE = 100_000;
const remembered = new Map<string, RE2JS | null>();
let rememberedSize = 0;

/** A pattern's share of `MAX_REMEMBERED_SIZE`; null is a pattern that cannot be used. */
const sizeOf = (compiled: RE2JS | null) => compiled?.programSize() ?? 100;

function forgetOldest(): void {
  for (const [pattern, compiled] of remembered) {
    if (rememberedSize <= MAX_REMEMBERED_SIZE) return;
    remembered.delete(pattern);
    rememberedSize -= sizeOf(compiled);
  }
}

function compileOnce(pattern: string, work: PatternWork): RE2JS | null {
  const known = remembered.get(pattern);
  if (known !== undefined) return known;
  work.spend(
    Math.min(patternSize(pattern), MAX_PATTERN_SIZE) * WORK_TO_COMPILE,
    `The pattern ${excerpt(pattern)}`,
  );
  const compiled = compileOrNull(pattern);
  remembered.set(pattern, compiled);
  rememberedSize += sizeOf(compiled);
  forgetOldest();
  return compiled;
}

function compileOrNull(pattern: string): RE2JS | null {
  try {
    return compile(pattern);
  } catch {
    return null;
  }
}

/**
 * @returns null for a pattern that `LinearPatterns` does not accept
 * @throws PatternBudgetError when compiling it costs more than what is left
 */
export function patternFinder(pattern: string, work: PatternWork): PatternFinder | null {
  const compiled = pattern.length > MAX_PATTERN_CHARACTERS ? null : compileOnce(pattern, work);
  if (compiled === null) return null;
  const spend = (length: number) =>
    work.spend(compiled.programSize() * (length + 1), `The pattern ${excerpt(pattern)}`);
  return {
    test(text) {
      spend(text.length);
      return compiled.test(text);
    },
    find(text, most) {
      const found: PatternMatch[] = [];
      const matcher = compiled.matcher(text);
      for (let from = 0; found.length < most; from = matcher.end()) {
        spend(text.length - from); // a search may read to the end of the text
        if (!matcher.find()) break;
        found.push({ value: matcher.group() ?? '', at: matcher.start() });
      }
      return found;
    },
  };
}

/**
 * Estimates from a pattern's text how many instructions it compiles to, with its counts written
 * out: `(?:(?:x{30}){30}){30}` is short, and compiles to 27,000.
 */
export function patternSize(pattern: string): number {
  /** For each open group: its size so far, and the size of the part that a count would repeat. */
  const open = [{ size: 3, last: 0 }];
  const add = (size: number) => {
    open.at(-1)!.size += size;
    open.at(-1)!.last = size;
  };
  /** Repeats the part that was added last. */
  const repeat = (least: number, most: number) => {
    const { last } = open.at(-1)!;
    add(last * (most - 1) + (most - least));
    open.at(-1)!.last += last;
  };
  for (const { 0: part, groups } of pattern.matchAll(PARTS)) {
    if (groups?.least !== undefined)
      repeat(Number(groups.least), Number(groups.most ?? groups.least));
    else if (groups?.open !== undefined) repeat(Number(groups.open), Number(groups.open) + 1);
    else if (part.startsWith('('))
      open.push({ size: part === '(' || part.endsWith('>') ? 2 : 0, last: 0 });
    else if (part === ')' && open.length > 1) add(open.pop()!.size);
    else if ('|?*+'.includes(part)) repeat(0, 1);
    else add(1);
  }
  return open.reduce((sum, { size }) => sum + size, 0);
}

/** Matches a whole count, start of a group, class or escape, or else one character. */
const PARTS =
  /\{(?<least>\d{1,9})(?:,(?<most>\d{1,9}))?\}|\{(?<open>\d{1,9}),\}|\((?:\?(?:P?<\w*>|[a-zA-Z-]*:?))?|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|.)|./gsu;

/** A `parameters` schema that cannot be used; `message` says what is wrong and what to do. */
export class ParametersError extends Error {
  override readonly name = 'ParametersError';
  /** The place at fault: `parameters.properties.date.type`. */
  readonly param: string;

  constructor(param: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.param = param;
  }
}
