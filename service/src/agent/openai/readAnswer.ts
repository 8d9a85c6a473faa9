import { z } from 'zod';
import { jsonIn, mapStrings } from '../../platform/json.ts';
import { ModelError } from './modelFailure.ts';
import { endAtBoundary } from '../cutText.ts';
import { cleanText, removeThinking } from './modelText.ts';

/** A model's answer: its text, and the functions that it calls. */
export interface ModelAnswer {
  /** '' when there are only calls. */
  readonly text: string;
  readonly calls: readonly FunctionCall[];
}

export interface FunctionCall {
  readonly name: string;
  /** The parsed arguments, or the raw text where it is not JSON. */
  readonly arguments: unknown;
}

/** OpenAI sends a string; some servers send a list of parts. */
const contentSchema = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
  .nullish();

const completionSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        finish_reason: z.string().nullish(),
        message: z.looseObject({
          content: contentSchema,
          refusal: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .nullish(),
});

/**
 * Reads the body of a chat completion. It checks only the parts that are used, since servers differ.
 * @throws ModelError when the answer cannot be used
 */
export function readAnswer(body: string): ModelAnswer {
  const json = jsonIn(body);
  if (json === undefined)
    throw new ModelError(
      'The model answered with something that is not JSON: check LLM_BASE_URL (it usually ends in /v1).',
    );
  const completion = completionSchema.safeParse(json);
  if (!completion.success)
    throw new ModelError(
      'The model answered with something that is not a chat completion: check that LLM_BASE_URL leads to an OpenAI-compatible API.',
    );
  const choice = completion.data.choices?.[0];
  if (!choice) throw new ModelError('The model answered without any choice.');
  const { message, finish_reason } = choice;
  if (message.refusal) throw new ModelError('The model refused to answer.');
  if (finish_reason === 'content_filter')
    throw new ModelError("The model's content filter withheld the answer.");

  const isCut = finish_reason === 'length';
  const calls = (message.tool_calls ?? []).map(({ function: called }, at, all) => ({
    name: cleanText(called.name).trim(),
    arguments: parseArguments(called.arguments, isCut && at === all.length - 1),
  }));
  const said = cleanText(removeThinking(textOf(message.content))).trim();
  const text = isCut && said !== '' ? endAtBoundary(said) : said;
  if (text === '' && calls.length === 0) throw new ModelError('The model gave an empty answer.');
  return { text, calls };
}

function textOf(content: z.infer<typeof contentSchema>): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
}

/**
 * Servers leave the arguments out, empty or `null` when there are none; a few send them parsed.
 * @param isCut the token limit cut the call off: nothing is then not the same as no arguments
 */
function parseArguments(given: unknown, isCut: boolean): unknown {
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? null);
  if (!isCut && /^\s*(?:null\s*)?$/.test(text)) return {};
  const json = jsonIn(text);
  return json === undefined ? cleanText(text) : mapStrings(json, cleanText);
}
