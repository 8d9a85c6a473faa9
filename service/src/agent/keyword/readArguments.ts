import type { Json, JsonObject } from '../../platform/json.ts';
import { PatternBudgetError, type PatternWork } from '../../platform/linearPattern.ts';
import type { AgentTool, Language } from '../agentModel.ts';
import { wordsOf } from './words.ts';
import { isFreeText, readValue } from './readValue.ts';
import { SourceText } from './sourceText.ts';
import { argumentsOf, isNamed, own, type Argument } from './schema.ts';

/** A text of the customer, and the argument that it answers for, as our question named it. */
export interface Source {
  readonly text: string;
  readonly asked: string | null;
  /** Whether it came after our question to confirm. Its values then replace earlier ones. */
  readonly isCorrection: boolean;
}

interface ReadArguments {
  readonly arguments: JsonObject;
  /** The first required argument without a value. Null when the tool can be called. */
  readonly missing: Argument | null;
}

export interface ReadingContext {
  readonly language: Language;
  readonly now: Date;
  /** What reading may still cost in this turn. */
  readonly work: PatternWork;
}

/** "I don't know" is no answer, however short the question. */
const NO_ANSWER =
  /^(?:i )?(?:dont know|do not know|not sure|no idea|no (?:lo )?se|no (?:lo )?tengo|i dont have (?:it|one)|nao (?:o )?sei|nao tenho|what|que|como)(?: .{0,20})?$/;

/**
 * Reads a tool's arguments from the customer's texts: the required ones, and optional ones that are
 * clearly there. A value beside its argument's name is taken before one that stands alone.
 * @param sources the newest first
 */
export function readArguments(
  tool: AgentTool,
  sources: readonly Source[],
  { language, now, work }: ReadingContext,
): ReadArguments {
  const read = (text: string) => new SourceText(text, language, now);
  const texts = sources.map((source) => ({ ...source, text: read(source.text) }));
  // A date and its time may stand in two texts.
  const together = read(sources.map(({ text }) => text).join('\n'));

  const find = (argument: Argument, onlyNamed: boolean): Json | undefined => {
    for (const [text, isAnswer, isNameNeeded] of placesOf(argument, onlyNamed)) {
      if (work.isSpent) return undefined;
      try {
        const value = readValue({ argument, text, isAnswer, onlyNamed: isNameNeeded, work });
        if (value !== undefined) return value;
      } catch (error) {
        if (!(error instanceof PatternBudgetError)) throw error;
      }
    }
    return undefined;
  };

  /** Where the value may be: in the answer to the argument's question, in each text, in all of them. */
  const placesOf = (
    argument: Argument,
    onlyNamed: boolean,
  ): readonly (readonly [text: SourceText, isAnswer: boolean, isNameNeeded: boolean])[] => {
    const answers = texts.filter(({ asked }) => asked !== null && isNamed(argument, asked));
    if (isFreeText(argument)) {
      const source = answers[0] ?? texts.at(-1);
      return source === undefined ? [] : [[source.text, true, false]];
    }
    return [
      ...answers
        .filter(({ text: answer }) => !NO_ANSWER.test(wordsOf(answer.text).join(' ')))
        .map(({ text: answer }) => [answer, true, false] as const),
      ...texts.map(({ text, isCorrection }) => [text, false, onlyNamed && !isCorrection] as const),
      ...(onlyNamed ? [] : [[together, false, false] as const]),
    ];
  };

  const wanted = argumentsOf(tool);
  const found = new Map<Argument, Json>();
  for (const onlyNamed of [true, false]) {
    for (const argument of wanted.filter((each) => !found.has(each))) {
      const value = find(argument, onlyNamed);
      if (value !== undefined) found.set(argument, value);
    }
  }
  for (const argument of wanted.filter((each) => each.required && !found.has(each))) {
    const fallback = own(argument.schema, 'default');
    if (fallback !== undefined) found.set(argument, fallback);
  }
  return {
    arguments: Object.fromEntries(
      wanted
        .filter((argument) => found.has(argument))
        .map((argument) => [argument.name, found.get(argument)!]),
    ),
    missing: wanted.find((argument) => argument.required && !found.has(argument)) ?? null,
  };
}
