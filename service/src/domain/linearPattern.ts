import { RE2JS } from 're2js';
import { ParametersError } from './parametersError.ts';

/**
 * Patterns of a tool's parameters, run on RE2: the time to match grows with the text, never faster. A
 * JavaScript expression such as `(a+)+$` would stop the process for hours on a short text.
 */

const MAX_PATTERN_LENGTH = 1_000;

/** Instructions of all patterns of one schema together: what compiling them costs. */
const MAX_PROGRAM_SIZE = 20_000;

/** About a quarter of a second: instructions times characters. */
const WORK_PER_CHECK = 32_000_000;

/** Thrown while matching, when one check has taken too long. */
export class PatternBudgetError extends Error {
  override readonly name = 'PatternBudgetError';
}

/** RE2 reads `\k<name>` as letters; in JavaScript it refers back. */
const NAMED_REFERENCE = /^(?:[^\\]|\\[^k])*\\k</s;

const excerpt = (pattern: string) => JSON.stringify(pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern);

const NOT_KNOWN = 'Write it without lookahead, lookbehind and references to groups (RE2 syntax).';

function compile(pattern: string): RE2JS {
  if (NAMED_REFERENCE.test(pattern)) throw new Error('reference to a named group');
  return RE2JS.compile(RE2JS.translateRegExp(pattern));
}

function compileOrRefuse(pattern: string, param: string): RE2JS {
  if (pattern.length > MAX_PATTERN_LENGTH) throw new ParametersError(param, `${param} holds a pattern longer than ${MAX_PATTERN_LENGTH} characters; shorten it.`);
  try {
    return compile(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : '';
    throw new ParametersError(param, `${param} holds the pattern ${excerpt(pattern)}, which cannot be used: ${reason.slice(0, 160)}. ${NOT_KNOWN}`);
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
  #workLeft = 0;

  /**
   * Compiles a pattern once.
   * @param param where it stands, for the error
   * @throws ParametersError when RE2 does not know it, or when it is too large beside those before it
   */
  add(pattern: string, param: string): void {
    if (this.#compiled.has(pattern)) return;
    const compiled = compileOrRefuse(pattern, param);
    this.#compiled.set(pattern, compiled);
    this.#size += compiled.programSize();
    if (this.#size > MAX_PROGRAM_SIZE) throw new ParametersError(param, `${param} holds the pattern ${excerpt(pattern)}: the patterns of this schema are too large; use fewer, or smaller counts in {…}.`);
  }

  /** A new check begins, with all the time that one may take. */
  refill(): void {
    this.#workLeft = WORK_PER_CHECK;
  }

  /** For ajv (`code.regExp`): hands out the patterns that were added. */
  get engine(): { (pattern: string): Matcher; code: string } {
    return Object.assign((pattern: string) => this.#matcher(pattern), { code: 'linearPattern' });
  }

  #matcher(pattern: string): Matcher {
    const compiled = this.#compiled.get(pattern) ?? compile(pattern);
    const size = compiled.programSize();
    const test = (text: string) => {
      this.#workLeft -= size * (text.length + 1);
      if (this.#workLeft < 0) throw new PatternBudgetError(`The pattern ${excerpt(pattern)} takes too long on texts this long.`);
      return compiled.test(text);
    };
    return { test, toString: () => pattern };
  }
}
