import { RE2JS } from 're2js';
import { ParametersError } from './parametersError.ts';
import { patternSize } from './patternSize.ts';

/**
 * Patterns of a tool's parameters, run on RE2: the time to match grows with the text, never faster.
 * A JavaScript expression such as `(a+)+$` would stop the process for hours on a short text. RE2
 * itself takes as long as the program is large, so that is bounded, and what all matching of one
 * check or turn costs.
 * @see docs/decisions/0038
 */

const MAX_PATTERN_CHARACTERS = 1_000;

/** Instructions of all patterns of one schema together: what compiling them costs. */
const MAX_PROGRAM_SIZE = 20_000;

/**
 * Of one pattern with its counts written out, before it is compiled: RE2 makes `(?:a|b)` smaller
 * than it is written.
 */
const MAX_WRITTEN_OUT_CHARACTERS = 2 * MAX_PROGRAM_SIZE;

/** About an eighth of a second: instructions times characters. */
const WORK_PER_CHECK = 16_000_000;

/** Compiling an instruction costs about as much as matching it with so many characters. */
const WORK_TO_COMPILE = 600;

/** Thrown while matching, when one check has taken too long. */
export class PatternBudgetError extends Error {
  override readonly name = 'PatternBudgetError';
}

/** What the matching of one check, or of one turn of the agent, may still cost. */
export class PatternWork {
  #left: number;

  /** @param most instructions times characters; a hundred million take about a second */
  constructor(most: number) {
    this.#left = most;
  }

  /** Something was given up because nothing was left. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** @throws PatternBudgetError when nothing is left; then and from then on */
  spend(work: number, on: string): void {
    this.#left -= work;
    if (this.#left < 0) throw new PatternBudgetError(`${on} takes too long on texts this long.`);
  }
}

/** RE2 reads `\k<name>` as letters; in JavaScript it refers back. */
const NAMED_REFERENCE = /^(?:[^\\]|\\[^k])*\\k</s;

const excerpt = (pattern: string) =>
  JSON.stringify(pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern);

const NOT_KNOWN = 'Write it without lookahead, lookbehind and references to groups (RE2 syntax).';

class PatternTooLarge extends Error {}

/**
 * @throws PatternTooLarge before it is compiled; Error that says in a few words what is not known
 */
function compile(pattern: string): RE2JS {
  if (NAMED_REFERENCE.test(pattern)) throw new Error('reference to a named group');
  if (patternSize(pattern) > MAX_WRITTEN_OUT_CHARACTERS) throw new PatternTooLarge();
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
      `${param} holds the pattern ${excerpt(pattern)}, which cannot be used: ${reason.slice(0, 160)}. ${NOT_KNOWN}`,
    );
  }
}

/** What ajv wants of an expression. `toString` is its key: ajv keeps one expression for each. */
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
   * @param param where it stands, for the error
   * @throws ParametersError when RE2 does not know it, or when it is too large beside those before
   * it
   */
  add(pattern: string, param: string): void {
    if (this.#compiled.has(pattern)) return;
    const compiled = compileOrRefuse(pattern, param);
    this.#compiled.set(pattern, compiled);
    this.#size += compiled.programSize();
    if (this.#size > MAX_PROGRAM_SIZE) throw tooLarge(pattern, param);
  }

  /** A new check begins, with all the time that one may take. */
  refill(): void {
    this.#work = new PatternWork(WORK_PER_CHECK);
  }

  /** For ajv (`code.regExp`): hands out the patterns that were added. */
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
export interface PatternMatch {
  readonly value: string;
  readonly at: number;
}

/** A pattern to look for inside a text: the bounds are those of a check. */
export interface PatternFinder {
  /** The first `most` places, in the order of the text. @throws PatternBudgetError */
  find(text: string, most: number): readonly PatternMatch[];
  /** @throws PatternBudgetError */
  test(text: string): boolean;
}

/**
 * The patterns of live tools come up at each turn again. The oldest are forgotten: about 20 MB at
 * most.
 */
const MAX_REMEMBERED_SIZE = 100_000;
const remembered = new Map<string, RE2JS | null>();
let rememberedSize = 0;

/** What a pattern that cannot be used takes up among the remembered. */
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
    Math.min(patternSize(pattern), MAX_WRITTEN_OUT_CHARACTERS) * WORK_TO_COMPILE,
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
 * @returns null for a pattern that `LinearPatterns` would not take: a tool that was defined by an
 * earlier release may have one
 * @throws PatternBudgetError when compiling it is more than what is left
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
        spend(text.length - from); // each search may go on to the end of the text
        if (!matcher.find()) break;
        found.push({ value: matcher.group() ?? '', at: matcher.start() });
      }
      return found;
    },
  };
}
