import { LANGUAGES, type AgentTool, type Language } from '../agentModel.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { PatternBudgetError, type PatternWork } from '../../domain/linearPattern.ts';
import { wordsOf } from '../words.ts';
import { datesIn, type DatesAndTimes } from './dates.ts';
import { isFreeText, readValue, type Value } from './readValue.ts';
import { argumentsOf, assemble, label, own, type Argument } from './schema.ts';

/** A text of the customer, and the argument that it answers for, as our question named it. */
export interface Source {
  readonly text: string;
  readonly asked: string | null;
  /** Whether it came after our question to confirm. Its values then replace earlier ones. */
  readonly isCorrection: boolean;
}

export interface ReadArguments {
  readonly arguments: JsonObject;
  /** The first required argument without a value. Null when the tool can be called. */
  readonly missing: Argument | null;
  /** Whether reading stopped early, so that it may have missed a value. */
  readonly isCutShort: boolean;
}

export interface ReadingContext {
  readonly language: Language;
  readonly now: Date;
  /** What reading may still cost in this turn. */
  readonly work: PatternWork;
}

const MAX_ARGUMENTS = 50;

/** Whether our question named this argument, in any language. */
export const isNamed = (argument: Argument, asked: string): boolean =>
  LANGUAGES.some((language) => label(argument, language) === asked);

/**
 * Reads a tool's arguments from the customer's texts: the required ones, and optional ones that are
 * clearly there. A value beside its argument's name is taken before one that stands alone.
 * @param sources the newest first
 */
export function readArguments(
  tool: AgentTool,
  sources: readonly Source[],
  context: ReadingContext,
): ReadArguments {
  const wanted = argumentsOf(tool).slice(0, MAX_ARGUMENTS);
  const search = new Search(sources, context);
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
    isCutShort: context.work.isSpent,
  };
}

/** "I don't know" is no answer, however short the question. */
const NO_ANSWER =
  /^(?:i )?(?:dont know|do not know|not sure|no idea|no (?:lo )?se|no (?:lo )?tengo|i dont have (?:it|one)|nao (?:o )?sei|nao tenho|what|que|como)(?: .{0,20})?$/;

class Search {
  readonly #sources: readonly Source[];
  readonly #context: ReadingContext;
  /** The places whose value an argument has taken: `source:at`. */
  readonly #taken = new Set<string>();
  readonly #dates = new Map<string, DatesAndTimes>();

  constructor(sources: readonly Source[], context: ReadingContext) {
    this.#sources = sources.map((source) => ({ ...source, text: source.text.normalize('NFC') }));
    this.#context = context;
  }

  /**
   * Looks in the answers to this argument's question, then in each text, then across texts, since a
   * date and its time may be in two of them.
   */
  find(argument: Argument, onlyNamed: boolean): Value | null {
    if (isFreeText(argument)) return this.#freeText(argument);
    const texts = this.#sources.map((source, index) => ({ ...source, key: String(index) }));
    for (const { text, asked, key } of texts) {
      const isAnswer = asked !== null && isNamed(argument, asked);
      if (!isAnswer || NO_ANSWER.test(wordsOf(text).join(' '))) continue;
      const value = this.#read(argument, text, key, true, false);
      if (value !== null) return value;
    }
    for (const { text, key, isCorrection } of texts) {
      const value = this.#read(argument, text, key, false, onlyNamed && !isCorrection);
      if (value !== null) return value;
    }
    if (onlyNamed || texts.length < 2) return null;
    return this.#read(argument, texts.map(({ text }) => text).join('\n'), 'all', false, false);
  }

  /** The answer to the question for it, else the text that the request began with. */
  #freeText(argument: Argument): Value | null {
    const answer =
      this.#sources.find(({ asked }) => asked !== null && isNamed(argument, asked)) ??
      this.#sources.at(-1);
    return answer === undefined ? null : this.#read(argument, answer.text, 'free', true, false);
  }

  /** Null once reading has used up its work. The customer is asked then. */
  #read(
    argument: Argument,
    text: string,
    source: string,
    isAnswer: boolean,
    onlyNamed: boolean,
  ): Value | null {
    const { language, now, work } = this.#context;
    if (work.isSpent) return null;
    try {
      const value = readValue({
        ...{ argument, text, language, now, isAnswer, onlyNamed, work },
        isFree: (at) => !this.#taken.has(`${source}:${at}`),
        dates: () => this.#datesIn(text),
      });
      if (value !== null && value.at !== null) this.#taken.add(`${source}:${value.at}`);
      return value;
    } catch (error) {
      if (error instanceof PatternBudgetError) return null;
      throw error;
    }
  }

  #datesIn(text: string): DatesAndTimes {
    const { language, now } = this.#context;
    const known = this.#dates.get(text);
    if (known !== undefined) return known;
    const dates = datesIn(text, language, now);
    this.#dates.set(text, dates);
    return dates;
  }
}
