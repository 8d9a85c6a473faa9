import { ownField, type Json, type JsonObject } from '../../platform/json.ts';
import { PatternBudgetError, type PatternWork } from '../../platform/linearPattern.ts';
import type { AgentTool, Language } from '../agentModel.ts';
import { anyOf, wordsOf } from '../../platform/reading/words.ts';
import { isFreeText, readValue } from './readValue.ts';
import { SourceText } from './sourceText.ts';
import { argumentsOf, isAskedFor, type Argument } from './schema.ts';

/** A text of the customer. */
export interface Source {
  readonly text: string;
  /** If the text answers a question of ours for an argument, the argument's label; else null. */
  readonly asked: string | null;
  /** Whether the text answers our question to confirm. Its values then replace earlier ones. */
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
  /** The work that patterns may still do in this turn. */
  readonly work: PatternWork;
}

/** "I don't know" answers no question. */
const NO_ANSWER = new RegExp(
  `^(?:i )?${anyOf(
    'dont know|do not know|not sure|no idea|i dont have (?:it|one)|what',
    'no (?:lo )?se|no (?:lo )?tengo|que|como',
    'nao (?:o )?sei|nao tenho',
  )}(?: .{0,20})?$`,
);

/** The customer's texts, ready to be searched. */
interface Texts {
  readonly separate: readonly (Omit<Source, 'text'> & { readonly text: SourceText })[];
  /** All in one text, since a date and its time may be in two texts. */
  readonly together: SourceText;
}

/** A text where the value of an argument may be, and how to read it. */
interface Candidate {
  readonly text: SourceText;
  /** The text answers a question for this argument. */
  readonly isAnswer: boolean;
  /** Only a value beside the argument's name counts. */
  readonly onlyNamed: boolean;
}

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
  const texts = textsOf(sources, language, now);
  const wanted = argumentsOf(tool);
  const found = new Map<Argument, Json>();
  for (const onlyNamed of [true, false]) {
    for (const argument of wanted.filter((each) => !found.has(each))) {
      const value = findValue(argument, candidatesFor(argument, texts, onlyNamed), work);
      if (value !== undefined) found.set(argument, value);
    }
  }
  for (const argument of wanted.filter((each) => each.required && !found.has(each))) {
    const fallback = ownField(argument.schema, 'default');
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

function textsOf(sources: readonly Source[], language: Language, now: Date): Texts {
  const whole = { taken: new Set<number>(), now };
  let start = 0;
  const separate = sources.map((source) => {
    const text = new SourceText(source.text, language, whole, start);
    start += text.text.length + 1;
    return { ...source, text };
  });
  const joined = sources.map(({ text }) => text).join('\n');
  return { separate, together: new SourceText(joined, language, whole, 0) };
}

/** The answers to the argument's question, then each text, then all texts together. */
function candidatesFor(
  argument: Argument,
  { separate, together }: Texts,
  onlyNamed: boolean,
): readonly Candidate[] {
  const answers = separate.filter(({ asked }) => asked !== null && isAskedFor(argument, asked));
  if (isFreeText(argument)) {
    const source = answers[0] ?? separate.at(-1);
    return source === undefined ? [] : [{ text: source.text, isAnswer: true, onlyNamed: false }];
  }
  return [
    ...answers
      .filter(({ text }) => !NO_ANSWER.test(wordsOf(text.text).join(' ')))
      .map(({ text }) => ({ text, isAnswer: true, onlyNamed: false })),
    ...separate.map(({ text, isCorrection }) => ({
      text,
      isAnswer: false,
      onlyNamed: onlyNamed && !isCorrection,
    })),
    ...(onlyNamed ? [] : [{ text: together, isAnswer: false, onlyNamed: false }]),
  ];
}

/** The first value that a candidate holds. A pattern that costs too much finds nothing. */
function findValue(
  argument: Argument,
  candidates: readonly Candidate[],
  work: PatternWork,
): Json | undefined {
  for (const candidate of candidates) {
    if (work.isSpent) return undefined;
    try {
      const value = readValue({ argument, ...candidate, work });
      if (value !== undefined) return value;
    } catch (error) {
      if (!(error instanceof PatternBudgetError)) throw error;
    }
  }
  return undefined;
}
