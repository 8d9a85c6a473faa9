import { LANGUAGES, type AgentTool, type Language } from '../agentModel.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { PatternBudgetError, type PatternWork } from '../../domain/linearPattern.ts';
import { wordsOf } from '../words.ts';
import { argumentsOf, assemble, label, own, type Argument } from './schema.ts';
import { isFreeText, readValue, type Value } from './values.ts';

/** Something the customer wrote, and what it was an answer to, as the asking sentence named it. */
export interface Source {
  readonly text: string;
  readonly asked: string | null;
}

export interface Filled {
  readonly arguments: JsonObject;
  /** The first required argument that nothing was found for; null when the tool can be called. */
  readonly missing: Argument | null;
  /**
   * The turn had read enough before everything was looked for: an optional value may have been
   * overlooked.
   */
  readonly isCutShort: boolean;
}

/** Whether the asking sentence named this argument so, in whichever language it asked. */
export const isNamed = (argument: Argument, asked: string): boolean =>
  LANGUAGES.some((language) => label(argument, language) === asked);

const MAX_ARGUMENTS = 50;

/**
 * Looks for a tool's arguments in what the customer wrote: the required ones, and the optional ones
 * that are clearly there. What stands beside its argument's name is taken before what stands alone.
 * @param sources the newest first
 * @param work what reading may still cost in this turn; what is not read by then is missing
 */
export function fillArguments(
  tool: AgentTool,
  sources: readonly Source[],
  language: Language,
  now: Date,
  work: PatternWork,
): Filled {
  const wanted = argumentsOf(tool).slice(0, MAX_ARGUMENTS);
  const search = new Search(sources, language, now, work);
  const found = new Map<Argument, Json>();
  for (const onlyNamed of [true, false]) {
    for (const argument of wanted.filter((each) => !found.has(each))) {
      const value = search.find(argument, onlyNamed);
      if (value !== null) found.set(argument, value.value);
    }
  }
  for (const argument of wanted) {
    const fallback = own(argument.schema, 'default');
    if (argument.required && !found.has(argument) && fallback !== undefined)
      found.set(argument, fallback);
  }
  const values = wanted
    .filter((argument) => found.has(argument))
    .map((argument) => [argument, found.get(argument)!] as const);
  return {
    arguments: assemble(values),
    missing: wanted.find((argument) => argument.required && !found.has(argument)) ?? null,
    isCutShort: work.isSpent,
  };
}

/** "I don't know" is no answer, however short the question. */
const NO_ANSWER =
  /^(?:i )?(?:dont know|do not know|not sure|no idea|no (?:lo )?se|ni idea|no (?:lo )?tengo|i dont have (?:it|one)|nao (?:o )?sei|nao tenho|sei la|idk|what|que|como)(?: .{0,20})?$/;

class Search {
  readonly #sources: readonly Source[];
  readonly #language: Language;
  readonly #now: Date;
  readonly #work: PatternWork;
  /** Places that are the value of an argument already: `source:at`. */
  readonly #taken = new Set<string>();

  constructor(sources: readonly Source[], language: Language, now: Date, work: PatternWork) {
    this.#sources = sources.map(({ text, asked }) => ({ text: text.normalize('NFC'), asked }));
    this.#language = language;
    this.#now = now;
    this.#work = work;
  }

  /**
   * In the answers to this argument's question, then in every text, then across them: a date may
   * have come before its time.
   */
  find(argument: Argument, onlyNamed: boolean): Value | null {
    if (isFreeText(argument)) return this.#freeText(argument);
    for (const isAnswer of [true, false]) {
      for (const [index, { text, asked }] of this.#sources.entries()) {
        if (
          isAnswer &&
          (asked === null || !isNamed(argument, asked) || NO_ANSWER.test(wordsOf(text).join(' ')))
        )
          continue;
        const value = this.#read(argument, text, String(index), isAnswer, onlyNamed && !isAnswer);
        if (value !== null) return value;
      }
    }
    if (onlyNamed || this.#sources.length < 2) return null;
    return this.#read(
      argument,
      this.#sources.map(({ text }) => text).join('\n'),
      'all',
      false,
      onlyNamed,
    );
  }

  /** The answer when it was asked for, else what the customer began with. */
  #freeText(argument: Argument): Value | null {
    const answer =
      this.#sources.find(({ asked }) => asked !== null && isNamed(argument, asked)) ??
      this.#sources.findLast(({ asked }) => asked === null);
    return answer === undefined ? null : this.#read(argument, answer.text, 'free', true, false);
  }

  #read(
    argument: Argument,
    text: string,
    source: string,
    isAnswer: boolean,
    onlyNamed: boolean,
  ): Value | null {
    const isFree = (at: number) => !this.#taken.has(`${source}:${at}`);
    const value = this.#within(() =>
      readValue({
        argument,
        text,
        language: this.#language,
        now: this.#now,
        isAnswer,
        onlyNamed,
        isFree,
        work: this.#work,
      }),
    );
    if (value !== null && value.at !== null) this.#taken.add(`${source}:${value.at}`);
    return value;
  }

  /** The customer is asked for what could not be looked for. */
  #within(read: () => Value | null): Value | null {
    if (this.#work.isSpent) return null;
    try {
      return read();
    } catch (error) {
      if (error instanceof PatternBudgetError) return null;
      throw error;
    }
  }
}
