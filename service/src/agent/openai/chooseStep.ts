import {
  MAX_SUMMARY_CHARACTERS,
  VERDICTS,
  type Verdict,
  MAX_MESSAGE_CHARACTERS,
} from '../../conversations/index.ts';
import { isJsonObject, type JsonObject } from '../../platform/json.ts';
import type { Language, Step, Turn } from '../agentModel.ts';
import {
  BUILT_IN_NAMES,
  CLOSE_CONVERSATION,
  HAND_OVER,
  MARK_QUALIFIED,
} from './builtInFunctions.ts';
import { ModelError } from './modelFailure.ts';
import { cutText } from '../cutText.ts';
import type { FunctionCall, ModelAnswer } from './readAnswer.ts';
import { TEAM_MARK } from './systemPrompt.ts';

/** The last words to a customer when the model closes without any. */
const GOODBYE: Record<Language, string> = {
  en: 'Thank you for your message. Goodbye!',
  es: 'Gracias por su mensaje. ¡Hasta luego!',
  pt: 'Obrigado pela sua mensagem. Até logo!',
};

/**
 * Turns a model's answer into a step. Tool calls come first: a handover or a close beside them is
 * ignored, since the model can ask for it again when it has the results. A handover comes before a
 * close.
 * @returns null when the model marked the conversation qualified and said nothing yet
 * @throws ModelError when the answer is no step that can be taken now
 */
export function chooseStep(answer: ModelAnswer, turn: Turn): Step | null {
  const calls = answer.calls.map((call) => ({ ...call, name: resolveName(call.name, turn) }));
  const named = (name: string) => calls.find((call) => call.name === name);
  const custom = calls.filter((call) => !BUILT_IN_NAMES.includes(call.name));
  const qualified = named(MARK_QUALIFIED) ? { qualify: true } : {};
  const handOver = named(HAND_OVER);
  const close = named(CLOSE_CONVERSATION);
  const text = messageText(answer.text);

  if (custom.length > 0) {
    if (!turn.mayCallTools) throw new ModelError('The model called a tool where it was to reply.');
    return {
      type: 'tool_calls',
      calls: custom.map((call) => ({ tool: call.name, arguments: call.arguments })),
      ...qualified,
    };
  }
  if (handOver) return { ...handOverStep(handOver, text), ...qualified };
  if (close) return { ...closingStep(close, text, turn.language), ...qualified };
  if (text !== '') return { type: 'reply', text, ...qualified };
  // The text may have been nothing but the team's mark.
  if (!named(MARK_QUALIFIED)) throw new ModelError('The model gave an empty answer.');
  return null;
}

/**
 * Some models write underscores for hyphens. The exact name of a live tool still means that tool.
 */
function resolveName(name: string, { tools }: Turn): string {
  const hyphenated = name.replaceAll('_', '-');
  const isTool = (wanted: string) => tools.some((tool) => tool.name === wanted);
  return (BUILT_IN_NAMES.includes(hyphenated) || isTool(hyphenated)) && !isTool(name)
    ? hyphenated
    : name;
}

function handOverStep(call: FunctionCall, text: string): Step {
  const given = objectOf(call.arguments);
  return {
    type: 'hand_over',
    reason: given.reason === 'customer_request' ? 'customer_request' : 'missing_knowledge',
    text: messageText(given.message) || text || null,
  };
}

/** A close cannot be taken back, so a call with broken arguments does not close. */
function closingStep(
  call: FunctionCall,
  said: string,
  language: Language,
): Extract<Step, { type: 'reply' }> {
  if (!isJsonObject(call.arguments)) {
    if (said === '')
      throw new ModelError(
        'The model wanted to close the conversation with arguments that are not JSON.',
      );
    return { type: 'reply', text: said };
  }
  const { verdict, summary, message } = call.arguments;
  const text = messageText(message) || said || GOODBYE[language];
  return {
    type: 'reply',
    text,
    close: {
      verdict: isVerdict(verdict) ? verdict : 'unknown',
      summary: cutText(trimmedString(summary) || text, MAX_SUMMARY_CHARACTERS),
    },
  };
}

const isVerdict = (value: unknown): value is Verdict =>
  VERDICTS.some((verdict) => verdict === value);

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

const trimmedString = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/**
 * Text for the customer, without the marks of the team's messages, which models imitate. What they
 * read has one before each message of the team, also in the middle.
 */
const messageText = (value: unknown): string =>
  cutText(
    trimmedString(value).replaceAll(`${TEAM_MARK} `, '').replaceAll(TEAM_MARK, '').trim(),
    MAX_MESSAGE_CHARACTERS,
  );
