import type {
  AgentModel,
  AgentTool,
  HistoryItem,
  Language,
  PastToolCall,
  Step,
  Turn,
} from './agentModel.ts';
import { CREATE_PAYMENT_LINK } from '../domain/builtInTools.ts';
import { PatternWork } from '../domain/linearPattern.ts';
import { unwatchedBounds, type Bounds } from '../limits/bounds.ts';
import { loopShare, type LoopShare } from '../limits/loopShare.ts';
import { acceptsOffer, wantsPerson } from './customerRequest.ts';
import { offersPerson, sentence } from './sentences.ts';
import { fillArguments, isNamed, type Filled, type Source } from './keyword/fillArguments.ts';
import { hasDoubts, isUncalledFor } from './keyword/actRequest.ts';
import { bestTool, contentTerms, fitsWell, knowledgeTool } from './keyword/ranking.ts';
import { askedTool, currentRequest, openingOf, type Request } from './keyword/request.ts';
import { paymentLinkCall } from './keyword/paymentRequest.ts';
import { callInWords, cut } from './keyword/resultWording.ts';
import { argumentsOf, label, nameOf, type Argument } from './keyword/schema.ts';
import { changesMind, declines, isFarewell, isGreeting, isThanks } from './keyword/smallTalk.ts';
import { canBeAsked, isFreeText } from './keyword/values.ts';

const MAX_TRIES = 2;

/**
 * What reading values may cost in one step, over all tools and patterns: a fraction of what one
 * check of a call's arguments may, since a customer's message is short. About a tenth of a second;
 * usual turns take a hundredth of it.
 */
const MAX_WORK_PER_STEP = 8_000_000;

/**
 * The default agent: chooses a live tool by its words, fills its arguments from the customer's,
 * asks for what is missing, and hands over when it is not sure. It keeps nothing between steps.
 * Steps of all conversations are worked out one after another, and share the event loop with
 * requests.
 * @param now what "today" and "tomorrow" are counted from
 * @see docs/decisions/0009-keyword-agent.md and 0038
 */
export function createKeywordAgent(
  now: () => Date = () => new Date(),
  bounds: Bounds = unwatchedBounds,
  share: LoopShare = loopShare,
): AgentModel {
  return {
    next: (turn, signal) =>
      share.run(
        OF_AGENTS,
        () => {
          const at: Moment = { now: now(), work: new PatternWork(MAX_WORK_PER_STEP) };
          const step = nextStep(turn, at);
          if (at.work.isSpent) bounds.reached('pattern_work');
          return step;
        },
        signal,
      ),
  };
}

/**
 * The agents of all workspaces take turns with what else holds the loop; their slots are shared
 * already.
 */
const OF_AGENTS = 'agents';

/** When a step is worked out, and what reading may still cost in it. */
interface Moment {
  readonly now: Date;
  readonly work: PatternWork;
}

function nextStep(turn: Turn, at: Moment): Step {
  const newest = turn.history.at(-1);
  if (newest?.type === 'tool_calls' || newest?.type === 'late_result') return afterCalls(turn);
  if (newest?.type === 'customer') return withUntold(turn, answerCustomer(turn, at));
  return HAND_OVER;
}

const HAND_OVER: Step = { type: 'hand_over', reason: 'missing_knowledge', text: null };
const HAND_OVER_ON_REQUEST: Step = { type: 'hand_over', reason: 'customer_request', text: null };

// ---- After tool calls

function afterCalls(turn: Turn): Step {
  const calls = untoldCalls(turn.history);
  const told = inWords(calls, turn.language);
  if (told !== null) return reply(told);
  const refused = calls.findLast(({ status }) => status === 'invalid');
  return refused === undefined ? HAND_OVER : askAgain(refused, turn);
}

/**
 * The calls that nobody has told the customer about yet, each with the last that is known of it.
 */
function untoldCalls(history: readonly HistoryItem[]): readonly PastToolCall[] {
  const since = history.slice(history.findLastIndex(({ type }) => type === 'reply') + 1);
  const calls = since.flatMap((item) =>
    item.type === 'tool_calls' ? item.calls : item.type === 'late_result' ? [item.call] : [],
  );
  return [...new Map(calls.map((call) => [call.id, call])).values()];
}

function inWords(calls: readonly PastToolCall[], language: Language): string | null {
  const sentences = new Set(
    calls.map((call) => callInWords(call, language)).filter((words) => words !== null),
  );
  return sentences.size === 0 ? null : joined([...sentences]);
}

/**
 * One of them may be as long as a payment link is; of several the last ones may be cut off, and
 * links are given all the same.
 */
const joined = (sentences: readonly string[]): string =>
  sentences.length === 1 ? sentences[0]! : cut(sentences.join('\n\n'));

/**
 * The service refused the arguments: asks for the one it names, unless that was asked for often
 * enough.
 */
function askAgain(refused: PastToolCall, turn: Turn): Step {
  const tool = customTools(turn).find(({ name }) => name === refused.tool);
  const named =
    tool &&
    argumentsOf(tool).find(
      (argument) => canBeAsked(argument) && mentions(refused.outcome, nameOf(argument)),
    );
  return named ? ask(named, currentRequest(turn.history), turn.language) : HAND_OVER;
}

const mentions = (sentenceText: string, name: string) =>
  sentenceText.split(/[^\p{L}\p{N}_$-]+/u).includes(name);

// ---- After a message of the customer

function answerCustomer(turn: Turn, at: Moment): Step {
  const request = currentRequest(turn.history);
  const { newest } = request;
  if (wantsPerson(newest)) return HAND_OVER_ON_REQUEST;
  return (
    answerToOffer(newest, turn) ??
    answerToFarewell(newest, turn) ??
    answerToQuestion(request, turn, at) ??
    answerToSmallTalk(newest, turn) ??
    answerToRequest(newest, turn, at)
  );
}

function answerToOffer(newest: string, { history, language }: Turn): Step | null {
  const last = lastReply(history);
  if (last === undefined || last.from !== 'agent' || !offersPerson(last.text)) return null;
  if (acceptsOffer(newest)) return HAND_OVER_ON_REQUEST;
  return declines(newest) ? reply(sentence('allRight', language)) : null;
}

const lastReply = (history: readonly HistoryItem[]) =>
  history.findLast((item) => item.type === 'reply');

/** Closing cancels an approval that is still waited for: such a conversation stays open. */
function answerToFarewell(newest: string, { history, language }: Turn): Step | null {
  const calls = latestCalls(history);
  const isDone =
    isFarewell(newest) ||
    (isThanks(newest) &&
      calls.some(({ status }) => status === 'succeeded') &&
      lastReplyEnds(history));
  if (!isDone) return null;
  if (calls.some(({ status }) => status === 'pending_approval'))
    return reply(sentence('youAreWelcome', language));
  const verdict = calls.some(({ status }) => status === 'succeeded') ? 'goal_reached' : 'unknown';
  return {
    type: 'reply',
    text: sentence('farewell', language),
    close: { verdict, summary: summaryOf(history, calls) },
  };
}

/** Thanks for an answer ends a conversation; thanks while we still ask something does not. */
const lastReplyEnds = (history: readonly HistoryItem[]) =>
  currentRequest(history).asked.length === 0;

function latestCalls(history: readonly HistoryItem[]): readonly PastToolCall[] {
  const calls = history.flatMap((item) =>
    item.type === 'tool_calls' ? item.calls : item.type === 'late_result' ? [item.call] : [],
  );
  return [...new Map(calls.map((call) => [call.id, call])).values()];
}

function summaryOf(history: readonly HistoryItem[], calls: readonly PastToolCall[]): string {
  const opening = history.find(
    (item) =>
      item.type === 'customer' &&
      !isGreeting(item.text) &&
      !isThanks(item.text) &&
      !isFarewell(item.text),
  );
  const asked =
    opening?.type === 'customer'
      ? `The customer wrote "${cut(opening.text.replace(/\s+/g, ' ').trim(), 200)}"`
      : 'The customer asked for nothing in particular';
  const names = (wanted: (status: PastToolCall['status']) => boolean) =>
    [...new Set(calls.filter(({ status }) => wanted(status)).map(({ tool }) => tool))]
      .slice(0, 5)
      .join(', ');
  const succeeded = names((status) => status === 'succeeded');
  const other = names((status) => status !== 'succeeded');
  if (succeeded !== '') return `${asked}, and ${succeeded} succeeded.`;
  return other === ''
    ? `${asked}, and no tool was called.`
    : `${asked}, and ${other} did not succeed.`;
}

/** The newest message answers a question of ours, unless it clearly asks for something else. */
function answerToQuestion(request: Request, turn: Turn, { now, work }: Moment): Step | null {
  const tool = askedTool(request, customTools(turn));
  const [asked] = request.asked;
  if (tool === null || asked === undefined) return null;
  if (changesMind(request.newest)) return reply(sentence('allRight', turn.language));
  if (hasDoubts(tool, request.newest) || isUncalledFor(tool, openingOf(request.sources)))
    return null;
  const filled = fillArguments(tool, request.sources, turn.language, now, work);
  const isUnanswered = filled.missing !== null && isNamed(filled.missing, asked);
  const other = isUnanswered ? bestTool(request.newest, customTools(turn)) : null;
  if (other !== null && other.tool !== tool && fitsWell(other)) return null;
  return callOrAsk(tool, filled, request, turn);
}

function answerToSmallTalk(newest: string, { history, language }: Turn): Step | null {
  if (isGreeting(newest)) return reply(sentence('howCanIHelp', language));
  if (isThanks(newest)) return reply(sentence('youAreWelcome', language));
  if (contentTerms(newest).length > 0 || /\d/.test(newest)) return null;
  // A bare yes, no or emoji asks for nothing, and is no reason to call a person.
  if (lastReply(history) === undefined) return reply(sentence('howCanIHelp', language));
  return acceptsOffer(newest) || declines(newest) || !/[\p{L}?]/u.test(newest)
    ? reply(sentence('allRight', language))
    : null;
}

function answerToRequest(newest: string, turn: Turn, { now, work }: Moment): Step {
  const sources: readonly Source[] = [{ text: newest, asked: null }];
  const request: Request = { newest, sources, asked: [] };
  const tools = customTools(turn);
  const best = bestTool(newest, tools);
  const knowledge = contentTerms(newest).length > 0 ? answeringTool(tools) : null;
  // A word in a description says less than that a tool is there for questions.
  const isSure = best !== null && fitsWell(best) && (best.named || knowledge === null);
  const link = isSure || !turn.mayCallTools ? null : wantedLink(newest, turn);
  if (link !== null) return link;
  const tool = isSure ? best.tool : knowledge;
  return tool === null
    ? HAND_OVER
    : callOrAsk(tool, fillArguments(tool, sources, turn.language, now, work), request, turn);
}

/** What is built in is not chosen by how well its words fit: the team's own tools come first. */
const customTools = ({ tools }: Turn): readonly AgentTool[] =>
  tools.filter(({ name }) => name !== CREATE_PAYMENT_LINK);

const wantedLink = (newest: string, { tools, language }: Turn): Step | null =>
  tools.some(({ name }) => name === CREATE_PAYMENT_LINK) ? paymentLinkCall(newest, language) : null;

/** A tool that answers questions takes a question and needs nothing else. */
function answeringTool(tools: readonly AgentTool[]): AgentTool | null {
  const tool = knowledgeTool(tools);
  const required = tool === null ? [] : argumentsOf(tool).filter((argument) => argument.required);
  return required.length === 1 && isFreeText(required[0]!) ? tool : null;
}

function callOrAsk(tool: AgentTool, filled: Filled, request: Request, turn: Turn): Step {
  if (filled.missing !== null) return ask(filled.missing, request, turn.language);
  return turn.mayCallTools && !filled.isCutShort
    ? { type: 'tool_calls', calls: [{ tool: tool.name, arguments: filled.arguments }] }
    : HAND_OVER;
}

/** After two questions for the same argument a person asks better. */
function ask(argument: Argument, { asked }: Request, language: Language): Step {
  const tries = asked.filter((what) => isNamed(argument, what)).length;
  if (tries >= MAX_TRIES || !canBeAsked(argument)) return HAND_OVER;
  return reply(sentence('askForArgument', language, { what: label(argument, language) }));
}

// ---- Replies

const reply = (text: string): Step => ({ type: 'reply', text });

/**
 * A message of the customer can overtake what we were about to say about a call: that goes before
 * the answer, and is the answer where there is no other.
 */
function withUntold(turn: Turn, step: Step): Step {
  if (step.type === 'tool_calls') return step;
  const told = inWords(untoldCalls(turn.history), turn.language);
  if (told === null) return step;
  if (step.type === 'reply') return { ...step, text: `${told}\n\n${step.text}` };
  const isRequest = step.reason === 'customer_request';
  if (!isRequest && contentTerms(newestText(turn)).length === 0) return reply(told);
  return {
    ...step,
    text: `${told}\n\n${sentence(isRequest ? 'handOverOnRequest' : 'handOverUnknown', turn.language)}`,
  };
}

const newestText = (turn: Turn) => currentRequest(turn.history).newest;
