import {
  lastDialogueMessage,
  type AgentHandoverReason,
  type DecidedBy,
  type Verdict,
} from '../../conversations/index.ts';
import { maskText } from '../../platform/masking.ts';
import {
  MAX_REPLIES_PER_WINDOW,
  MAX_TOOL_CALLS_PER_TURN,
  REPLY_WINDOW_MS,
  usesWebhook,
} from '../agentSettings.ts';
import {
  type BuiltInTool,
  type Tool,
  isBuiltIn,
  isComplete,
  type ToolCall,
} from '../../tools/index.ts';
import type { AgentModel, AgentTool, Language, Step, Turn, WantedCall } from '../agentModel.ts';
import { isYes, anyAsksForPerson } from '../keyword/phrases.ts';
import { historyOf, pastCall } from './history.ts';
import { callInWords } from '../keyword/resultWording.ts';
import { detectLanguage } from '../../platform/reading/detectLanguage.ts';
import { callsOfTurn, type LoadedTurn } from './loadTurn.ts';
import { offersPerson, sentence, SENTENCES_OF_CALLS } from '../keyword/sentences.ts';

interface Reply {
  readonly type: 'reply';
  readonly text: string;
  /** The service's own sentences, sent with the text. */
  readonly notices: readonly string[];
  readonly qualify: boolean;
  readonly close: { readonly verdict: Verdict; readonly summary: string } | null;
}

interface HandOver {
  readonly type: 'hand_over';
  readonly reason: AgentHandoverReason;
  readonly text: string;
  readonly notices: readonly string[];
  /** For the team. */
  readonly note: string | null;
  readonly qualify: boolean;
}

/** An outcome that says something to the customer. */
export type Spoken = (Reply | HandOver) & {
  /** What decided it; absent when the service itself did, in a sentence of its own. */
  readonly decidedBy?: DecidedBy;
};

type Decided =
  | Spoken
  | {
      readonly type: 'tool_calls';
      readonly calls: readonly WantedCall[];
      readonly qualify: boolean;
    };

/** What the agent does in a turn. */
export type Outcome =
  | Decided
  /** A workflow decides. The notices are sent before it is asked. */
  | { readonly type: 'deferred'; readonly notices: readonly string[] };

/**
 * Decides the next step. Some of it is not left to the model: a customer who asks for a person gets
 * one, the service's own sentences say which calls failed or wait, and the conversation is handed over
 * when the model fails.
 * @param signal stops without an outcome
 * @param modelSignal stops the model, which counts as a failure of the model
 * @throws the signal's reason
 */
export async function decideTurn(
  turn: LoadedTurn,
  model: AgentModel,
  { now, signal, modelSignal }: { now: Date; signal: AbortSignal; modelSignal: AbortSignal },
): Promise<Outcome> {
  const language = languageOf(turn);
  if (!turn.mayAnswer) return replyWith('', resultsWhileWaiting(turn, language));
  const notices = noticesOf(turn, language);
  const requested = requestedHandover(turn, language);
  if (requested) return withNotices(requested, owedInWords(turn, language));
  const owed = owedAtHandBack(turn, language);
  if (owed.length > 0) return replyWith('', owed);
  if (repliesTooOften(turn, now))
    return failedTurn(turn, `More than ${MAX_REPLIES_PER_WINDOW} replies in ten minutes.`);
  if (notices.length > 0 && !leavesSomethingToSay(turn))
    return replyWith('', allNotices(turn, language));
  // A workflow knows nothing of the service's own tool calls.
  if (usesWebhook(turn.settings) && turn.unanswered.length === 0)
    return replyWith('', owedInWords(turn, language));
  try {
    const step = await model.next(modelTurn(turn, language, notices.length === 0), modelSignal);
    if (step.type === 'deferred') return { type: 'deferred', notices: owedInWords(turn, language) };
    const outcome = { ...toOutcome(step, turn, language), decidedBy: model.decidedBy };
    return withNotices(
      outcome,
      outcome.type === 'tool_calls' ? notices : allNotices(turn, language),
    );
  } catch (error) {
    signal.throwIfAborted();
    const reason = modelSignal.aborted
      ? 'The model did not answer in time.'
      : (error as Error).message;
    const note = maskText(reason, turn.contact).slice(0, 500).toWellFormed();
    return failedTurn(turn, note);
  }
}

/**
 * Hands over after a turn that could not be decided.
 * @param note for the team
 */
export function failedTurn(turn: LoadedTurn, note: string): Decided {
  const language = languageOf(turn);
  const failed = handOver('agent_error', sentence('handOverAfterError', language), note);
  return withNotices(failed, owedInWords(turn, language));
}

/** How many of the customer's newest messages are read to detect their language. */
const MAX_MESSAGES_FOR_LANGUAGE = 20;

/** The language that the agent replies in. */
export function languageOf({
  messages,
  settings,
}: Pick<LoadedTurn, 'messages' | 'settings'>): Language {
  const said = messages
    .filter(({ direction }) => direction === 'inbound')
    .slice(-MAX_MESSAGES_FOR_LANGUAGE)
    .map(({ text }) => text);
  return detectLanguage(said, settings.languages);
}

/** Hands over if the customer asks for a person, or says "yes" to the offer of one. */
function requestedHandover(
  { unanswered, messages, untold, settings }: LoadedTurn,
  language: Language,
): HandOver | null {
  const text = sentence('handOverOnRequest', language);
  if (anyAsksForPerson(unanswered, settings.handoverPhrases))
    return handOver('customer_request', text, null);
  const answered = messages.findLast(({ number }) => number < (unanswered[0]?.number ?? 0));
  const wasOffered = answered?.sender.type === 'agent' && offersPerson(answered.text);
  if (
    wasOffered &&
    untold.length === 0 &&
    unanswered.length > 0 &&
    isYes(unanswered.map((message) => message.text).join('\n'))
  ) {
    return handOver('tool_failure', text, null);
  }
  return null;
}

/** Guards against two machines that talk to each other for ever. */
function repliesTooOften({ repliedAt }: LoadedTurn, now: Date): boolean {
  const since = now.getTime() - REPLY_WINDOW_MS;
  return repliedAt.filter((time) => Date.parse(time) > since).length >= MAX_REPLIES_PER_WINDOW;
}

const isInvalid = ({ error }: ToolCall) => error?.type === 'invalid_arguments';

/**
 * What the customer must be told when the turn ends. It includes calls that were refused before
 * anything was sent, unless the model corrected them with a call of a later step.
 */
function allNotices(turn: LoadedTurn, language: Language): string[] {
  const toolFailed = sentence('toolFailed', language);
  const notices = noticesOf(turn, language);
  // A call of an unknown tool is corrected by any later call.
  const isCorrected = (call: ToolCall) =>
    turn.calls.some(
      (later) =>
        later.id > call.id &&
        later.stepId !== call.stepId &&
        !isInvalid(later) &&
        ((call.toolId === null && !isBuiltIn(call)) || later.tool === call.tool),
    );
  if (
    notices.includes(toolFailed) ||
    !turn.untold.some((call) => isInvalid(call) && !isCorrected(call))
  )
    return notices;
  return [...notices, toolFailed];
}

/** For all results together: about half a message, which leaves room for the rest of its text. */
const MAX_RESULTS_CHARACTERS = 2_000;

/** Results that the customer has not been told, in the service's own sentences. */
function resultsInWords({ untold, contact }: LoadedTurn, language: Language): string[] {
  const succeeded = untold.filter(({ status }) => status === 'succeeded');
  const share = Math.floor(MAX_RESULTS_CHARACTERS / succeeded.length);
  const words = succeeded.map((call) =>
    callInWords(pastCall(call, contact, false), language, share),
  );
  return [...new Set(words.filter((each) => each !== null))];
}

/** All that the customer has not been told, in the service's own sentences. */
const owedInWords = (turn: LoadedTurn, language: Language): string[] => [
  ...resultsInWords(turn, language),
  ...allNotices(turn, language),
];

/**
 * The results and notices that the customer is still owed after a hand-back, if a person wrote last. The
 * model then has nothing to answer.
 */
function owedAtHandBack(turn: LoadedTurn, language: Language): string[] {
  const last = lastDialogueMessage(turn.messages.toReversed())?.sender.type;
  if (turn.unanswered.length > 0 || last === 'agent' || last === 'customer') return [];
  return owedInWords(turn, language);
}

/** How calls ended, when the conversation already waits for a person. */
function resultsWhileWaiting(turn: LoadedTurn, language: Language): string[] {
  const isUndone = turn.untold.some((call) => isComplete(call) && call.status !== 'succeeded');
  return [...resultsInWords(turn, language), ...(isUndone ? [sentence('notDone', language)] : [])];
}

/** The sentences that the customer must be told, each once. Offers of a person come last. */
function noticesOf({ untold }: LoadedTurn, language: Language): string[] {
  const names = untold
    .filter((call) => !isInvalid(call))
    .map(({ status }) => SENTENCES_OF_CALLS[status])
    .filter((name) => name !== undefined);
  const notices = [...new Set(names)].map((name) => sentence(name, language));
  return notices.toSorted((one, other) => Number(offersPerson(one)) - Number(offersPerson(other)));
}

/**
 * Whether the model has more to say than the notices do: a result, or an answer to messages written
 * after the last call.
 */
function leavesSomethingToSay({ untold, unanswered, calls }: LoadedTurn): boolean {
  if (untold.some(({ status }) => status === 'succeeded')) return true;
  const lastCallAfter = Math.max(0, ...calls.map(({ afterMessage }) => afterMessage));
  return unanswered.some(({ number }) => number > lastCallAfter);
}

function modelTurn(turn: LoadedTurn, language: Language, hasNoNotices: boolean): Turn {
  const { settings } = turn;
  return {
    agent: {
      name: settings.name,
      instructions: settings.instructions,
      languages: settings.languages,
    },
    language,
    history: historyOf(turn),
    tools: [...turn.tools, ...turn.builtIn].map(toAgentTool),
    mayCallTools: hasNoNotices && callsOfTurn(turn).length < MAX_TOOL_CALLS_PER_TURN,
    mayClose: turn.mayClose,
  };
}

const toAgentTool = (tool: Tool | BuiltInTool): AgentTool => {
  const { name, description, parameters } = tool;
  const { readOnly = false, examplePhrases = [] }: Partial<Tool> = 'kind' in tool ? tool : {};
  return { name, description, parameters, readOnly, examplePhrases };
};

const HANDOVER_SENTENCES = {
  customer_request: 'handOverOnRequest',
  missing_knowledge: 'handOverUnknown',
} as const;

/** @throws Error when the step is empty */
function toOutcome(step: Step, { mayClose }: LoadedTurn, language: Language): Decided {
  switch (step.type) {
    case 'tool_calls':
      if (step.calls.length === 0)
        throw new Error('The model asked for tool calls and named none.');
      return { type: 'tool_calls', calls: step.calls, qualify: step.qualify ?? false };
    case 'hand_over':
      return {
        ...handOver(
          step.reason,
          step.text ?? sentence(HANDOVER_SENTENCES[step.reason], language),
          null,
        ),
        qualify: step.qualify ?? false,
      };
    case 'reply':
      if (step.text.trim() === '') throw new Error('The model answered with an empty text.');
      return {
        ...replyWith(step.text, []),
        qualify: step.qualify ?? false,
        close: mayClose ? (step.close ?? null) : null,
      };
  }
}

/**
 * Adds notices to an outcome, and removes them from the model's own text.
 * @throws Error when the model calls tools although the customer must be told something first
 */
function withNotices(outcome: Decided, notices: readonly string[]): Decided {
  if (notices.length === 0) return outcome;
  if (outcome.type === 'tool_calls')
    throw new Error('The model called a tool although none could be called.');
  const text = notices
    .reduce((words, notice) => words.replaceAll(notice, ''), outcome.text)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  // A notice says that something was not done, or not yet, so the conversation stays open.
  return outcome.type === 'hand_over'
    ? { ...outcome, text, notices }
    : { ...outcome, text, notices, close: null };
}

const replyWith = (text: string, notices: readonly string[]): Reply => ({
  type: 'reply',
  text,
  notices,
  qualify: false,
  close: null,
});

const handOver = (reason: AgentHandoverReason, text: string, note: string | null): HandOver => ({
  type: 'hand_over',
  reason,
  text,
  notices: [],
  note,
  qualify: false,
});
