import { CREATE_PAYMENT_LINK } from '../domain/builtInTools.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { PatternWork } from '../domain/linearPattern.ts';
import { unwatchedBounds, type Bounds } from '../limits/bounds.ts';
import { loopShare, type LoopShare } from '../limits/loopShare.ts';
import type {
  AgentModel,
  AgentTool,
  HistoryItem,
  Language,
  PastToolCall,
  Step,
  Turn,
} from './agentModel.ts';
import { chooseTool, contentTerms } from './keyword/chooseTool.ts';
import { asksForPaymentDetail, asksToPay, readPayment } from './keyword/payment.ts';
import { readArguments, type ReadingContext, type Source } from './keyword/readArguments.ts';
import { isFreeText } from './keyword/readValue.ts';
import { currentRequest, openingOf, type Request } from './keyword/request.ts';
import {
  argumentsOf,
  canBeAsked,
  isLabel,
  isNamed,
  labelOf,
  nameOf,
  type Label,
} from './keyword/schema.ts';
import { isFarewell, isGreeting, isNo, isThanks, isYes } from './phrases.ts';
import { callInWords, cut } from './resultWording.ts';
import { offersPerson, sentence, type AgentQuestion } from './sentences.ts';
import { readableName } from './words.ts';

/**
 * The built-in agent. It compares words and does not understand them:
 * - It knows a tool by the words of its name, description, arguments and example phrases, in the
 *   languages in which they are written. It translates nothing and knows no synonyms.
 * - It calls a read-only tool when the message means it. Every other tool it repeats to the customer
 *   first, with its arguments, and calls it only on a plain yes.
 * - It reads arguments by type, enum, format and pattern, asks for one at a time, each twice at most.
 *   Optional objects, and objects in objects, are not filled.
 * - It answers one request at a time. Two requests in one message, a condition or a complaint beside
 *   a request are not noticed: the question before a call is what protects the customer.
 * - What it is not sure of goes to a person.
 * It keeps nothing between steps: an open question is read from its own last reply.
 * @param now what "today" and "tomorrow" are counted from
 * @see docs/decisions/0009-keyword-agent.md
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
          const work = new PatternWork(MAX_WORK_PER_STEP);
          const step = nextStep(turn, { language: turn.language, now: now(), work });
          if (work.isSpent) bounds.reached('pattern_work');
          return step;
        },
        signal,
      ),
  };
}

/** The agents of all workspaces take turns in the event loop. */
const OF_AGENTS = 'agents';

/** The work of reading values in one step. It takes about a tenth of a second at most. */
const MAX_WORK_PER_STEP = 8_000_000;

/** After this many questions for the same argument, the agent hands over. */
const MAX_QUESTIONS_FOR_ARGUMENT = 2;

const HAND_OVER: Step = { type: 'hand_over', reason: 'missing_knowledge', text: null };
const reply = (text: string): Step => ({ type: 'reply', text });

function nextStep(turn: Turn, context: ReadingContext): Step {
  const newest = turn.history.at(-1);
  if (newest?.type === 'tool_calls' || newest?.type === 'late_result') return afterCalls(turn);
  if (newest?.type === 'customer') return withUntold(turn, answerCustomer(turn, context));
  return HAND_OVER;
}

// ---- After tool calls

function afterCalls(turn: Turn): Step {
  const calls = callsSince(turn.history, ({ type }) => type === 'reply');
  const told = inWords(calls, turn.language);
  if (told !== null) return reply(told);
  const refused = calls.findLast(({ status }) => status === 'invalid');
  return refused === undefined ? HAND_OVER : askAgain(refused, turn);
}

/** The calls after the last item that `isEnd` accepts, each with its newest outcome. */
function callsSince(
  history: readonly HistoryItem[],
  isEnd: (item: HistoryItem) => boolean = () => false,
): readonly PastToolCall[] {
  const calls = history
    .slice(history.findLastIndex(isEnd) + 1)
    .flatMap((item) =>
      item.type === 'tool_calls' ? item.calls : item.type === 'late_result' ? [item.call] : [],
    );
  return [...new Map(calls.map((call) => [call.id, call])).values()];
}

/** Calls' results in words. A single result stays whole; several together are cut. */
function inWords(calls: readonly PastToolCall[], language: Language): string | null {
  const words = calls.map((call) => callInWords(call, language)).filter((each) => each !== null);
  const sentences = [...new Set(words)];
  if (sentences.length === 0) return null;
  return sentences.length === 1 ? sentences[0]! : cut(sentences.join('\n\n'));
}

/** Asks for the argument that the service refused, as its reason names it. */
function askAgain(refused: PastToolCall, turn: Turn): Step {
  const tool = customTools(turn).find(({ name }) => name === refused.tool);
  const words = refused.outcome.split(/[^\p{L}\p{N}_$-]+/u);
  const named = (tool === undefined ? [] : argumentsOf(tool)).find(
    (argument) => canBeAsked(argument) && words.includes(nameOf(argument)),
  );
  if (named === undefined) return HAND_OVER;
  return ask(labelOf(named), currentRequest(turn.history), turn);
}

// ---- After a message of the customer

/** Answers a customer's message. A request for a person never gets here: `decideTurn` answers it. */
function answerCustomer(turn: Turn, context: ReadingContext): Step {
  const request = currentRequest(turn.history);
  return (
    answerToDeclinedOffer(request.newest, turn) ??
    answerToFarewell(request, turn) ??
    answerToQuestion(request, turn, context) ??
    answerToSmallTalk(request.newest, turn) ??
    answerToRequest(request.newest, turn, context)
  );
}

/** Answers "No, thanks" to the offer of a person. A "yes" to it never gets here either. */
function answerToDeclinedOffer(newest: string, { history, language }: Turn): Step | null {
  const lastReply = history.findLast((item) => item.type === 'reply');
  const wasOffered = lastReply?.from === 'agent' && offersPerson(lastReply.text);
  return wasOffered && isNo(newest) ? reply(sentence('allRight', language)) : null;
}

/** Answers a farewell. It does not close while a call waits for approval, which closing would cancel. */
function answerToFarewell({ newest, questions }: Request, turn: Turn): Step | null {
  const calls = callsSince(turn.history);
  const hasSucceeded = calls.some(({ status }) => status === 'succeeded');
  const isDone = isFarewell(newest) || (isThanks(newest) && hasSucceeded && questions.length === 0);
  if (!isDone) return null;
  if (calls.some(({ status }) => status === 'pending_approval'))
    return reply(sentence('youAreWelcome', turn.language));
  const verdict = hasSucceeded ? 'goal_reached' : 'unknown';
  const summary = summaryOf(turn.history, calls);
  return { type: 'reply', text: sentence('farewell', turn.language), close: { verdict, summary } };
}

function summaryOf(history: readonly HistoryItem[], calls: readonly PastToolCall[]): string {
  const isSmallTalk = (text: string) => isGreeting(text) || isThanks(text) || isFarewell(text);
  const opening = history.find((item) => item.type === 'customer' && !isSmallTalk(item.text));
  const asked =
    opening?.type === 'customer'
      ? `The customer wrote "${cut(opening.text.replace(/\s+/g, ' ').trim(), 200)}"`
      : 'The customer asked for nothing in particular';
  const names = (hasSucceeded: boolean) => {
    const tools = calls.filter(({ status }) => (status === 'succeeded') === hasSucceeded);
    return [...new Set(tools.map(({ tool }) => tool))].slice(0, 5).join(', ');
  };
  if (names(true) !== '') return `${asked}, and ${names(true)} succeeded.`;
  if (names(false) !== '') return `${asked}, and ${names(false)} did not succeed.`;
  return `${asked}, and no tool was called.`;
}

// ---- The answer to a question of ours

/** What the agent would do for a request: a tool, or a payment link. */
interface Plan {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** What the call does, in words for the customer. Null for a read-only tool. */
  readonly action: string | null;
  /** What has to be asked for first. */
  readonly missing: Label | null;
  /** The language of the question about it. */
  readonly language: Language;
  /** True if reading stopped early, or if the customer cannot be asked for the missing value. */
  readonly isHopeless: boolean;
}

function answerToQuestion(request: Request, turn: Turn, context: ReadingContext): Step | null {
  const [question] = request.questions;
  if (question === undefined) return null;
  if (isNo(request.newest) && !isOtherwiseMeant(request.newest, question, turn))
    return reply(sentence('allRight', turn.language));
  return question.type === 'confirmation'
    ? answerToConfirmation(question, request, turn, context)
    : answerToArgument(question, request, turn, context);
}

/**
 * "No" is the value of an argument that is true or false. "Cancel", after "Shall I cancel…?", may
 * mean yes or no.
 */
function isOtherwiseMeant(newest: string, { type, what }: AgentQuestion, turn: Turn): boolean {
  if (type === 'confirmation') return /cancel/i.test(newest);
  const asked = customTools(turn)
    .flatMap(argumentsOf)
    .filter((argument) => isNamed(argument, what));
  return asked.some(({ schema }) => schema.type === 'boolean');
}

/**
 * Answers a reply to "Shall I …?". A plain yes makes the call, with the arguments that the question
 * repeated: they are read again from the same messages, and must give the same question. Any other
 * reply makes no call, and other values lead to another question.
 */
function answerToConfirmation(
  { what, language }: AgentQuestion,
  request: Request,
  turn: Turn,
  context: ReadingContext,
): Step | null {
  const planFor = (sources: readonly Source[]) =>
    plansAskedAbout(what, sources, turn, { ...context, language });
  if (isYes(request.newest)) {
    const plans = planFor(request.sources.slice(1));
    const confirmed = plans.find(({ action, missing }) => action === what && missing === null);
    if (confirmed === undefined) return plans[0] ? carryOut(plans[0], request, turn) : HAND_OVER;
    return turn.mayCallTools ? call(confirmed) : HAND_OVER;
  }
  const [plan] = planFor(request.sources);
  const meant = chooseTool(request.newest, customTools(turn));
  const isSame = meant === null ? plan?.action !== what : meant.name === plan?.tool;
  return plan !== undefined && isSame ? carryOut(plan, request, turn) : null;
}

/** The plans that our question may have been about. Those whose words fit it come first. */
function plansAskedAbout(
  action: string,
  sources: readonly Source[],
  turn: Turn,
  context: ReadingContext,
): readonly Plan[] {
  const tools = customTools(turn).filter((tool) => action.startsWith(actionName(tool)));
  const plans = tools
    .sort((a, b) => b.name.length - a.name.length)
    .map((tool) => planOf(tool, sources, context));
  if (tools.length > 0 || !makesLinks(turn)) return plans;
  return [paymentPlan(sources, context.language)].filter(({ missing }) => missing === null);
}

/** The newest message answers a question of ours, unless it clearly means another tool. */
function answerToArgument(
  { what }: AgentQuestion,
  request: Request,
  turn: Turn,
  context: ReadingContext,
): Step | null {
  const plan = planForArgument(what, request, turn, context);
  if (plan === null) return null;
  const isStillMissing = plan.missing !== null && isLabel(plan.missing, what);
  const meant = isStillMissing ? chooseTool(request.newest, customTools(turn)) : null;
  return meant === null || meant.name === plan.tool ? carryOut(plan, request, turn) : null;
}

function planForArgument(
  what: string,
  request: Request,
  turn: Turn,
  context: ReadingContext,
): Plan | null {
  if (makesLinks(turn) && asksForPaymentDetail(what))
    return paymentPlan(request.sources, context.language);
  const askers = customTools(turn).filter((tool) =>
    argumentsOf(tool).some((argument) => isNamed(argument, what)),
  );
  const tool = askers.length > 1 ? chooseTool(openingOf(request), askers) : askers[0];
  return tool ? planOf(tool, request.sources, context) : null;
}

// ---- A new request

function answerToSmallTalk(newest: string, { history, language }: Turn): Step | null {
  if (isGreeting(newest)) return reply(sentence('howCanIHelp', language));
  if (isThanks(newest)) return reply(sentence('youAreWelcome', language));
  if (!isYes(newest) && !isNo(newest) && /[\p{L}\p{N}?]/u.test(newest)) return null;
  const isFirst = !history.some((item) => item.type === 'reply');
  return reply(sentence(isFirst ? 'howCanIHelp' : 'allRight', language));
}

/** Tries the team's own tools first, then a payment link, then a tool that answers any question. */
function answerToRequest(newest: string, turn: Turn, context: ReadingContext): Step {
  const sources: readonly Source[] = [{ text: newest, asked: null, isCorrection: false }];
  const request: Request = { newest, sources, questions: [] };
  const tool = chooseTool(newest, customTools(turn));
  if (tool !== null) return carryOut(planOf(tool, sources, context), request, turn);
  if (makesLinks(turn) && asksToPay(newest, turn.language))
    return carryOut(paymentPlan(sources, turn.language), request, turn);
  const answering = contentTerms(newest).length > 0 ? answeringTool(turn) : null;
  return answering === null
    ? HAND_OVER
    : carryOut(planOf(answering, sources, context), request, turn);
}

const customTools = ({ tools }: Turn): readonly AgentTool[] =>
  tools.filter(({ name }) => name !== CREATE_PAYMENT_LINK);

const makesLinks = ({ tools }: Turn) => tools.some(({ name }) => name === CREATE_PAYMENT_LINK);

/** The one read-only tool that takes any question, and nothing else. */
function answeringTool(turn: Turn): AgentTool | null {
  const found = customTools(turn).filter((tool) => {
    const required = argumentsOf(tool).filter((argument) => argument.required);
    return tool.readOnly && required.length === 1 && isFreeText(required[0]!);
  });
  return found.length === 1 ? found[0]! : null;
}

// ---- Plans

function planOf(tool: AgentTool, sources: readonly Source[], context: ReadingContext): Plan {
  const { arguments: args, missing } = readArguments(tool, sources, context);
  return {
    tool: tool.name,
    arguments: args,
    language: context.language,
    action: tool.readOnly ? null : actionOf(tool, args, context.language),
    missing: missing && labelOf(missing),
    isHopeless: missing === null ? context.work.isSpent : !canBeAsked(missing),
  };
}

const paymentPlan = (sources: readonly Source[], language: Language): Plan => ({
  ...readPayment(sources, language),
  tool: CREATE_PAYMENT_LINK,
  language,
  isHopeless: false,
});

/**
 * Asks for a missing value, or asks the customer to confirm a call that changes something, or calls a
 * read-only tool.
 */
function carryOut(plan: Plan, request: Request, turn: Turn): Step {
  if (plan.isHopeless) return HAND_OVER;
  if (plan.missing !== null) return ask(plan.missing, request, turn);
  if (!turn.mayCallTools) return HAND_OVER;
  if (plan.action === null) return call(plan);
  return reply(sentence('confirmCall', plan.language, { action: plan.action }));
}

/**
 * The amount of a payment link is only what the customer says: a person decides about it, even where
 * the team lets a language model make links by itself.
 */
const call = ({ tool, arguments: args }: Plan): Step => ({
  type: 'tool_calls',
  calls: [
    {
      tool,
      arguments: args,
      ...(tool === CREATE_PAYMENT_LINK ? { needsApproval: true } : {}),
    },
  ],
});

function ask(label: Label, { questions }: Request, { language }: Turn): Step {
  const asked = questions.filter(({ type, what }) => type === 'argument' && isLabel(label, what));
  return asked.length >= MAX_QUESTIONS_FOR_ARGUMENT
    ? HAND_OVER
    : reply(sentence('askForArgument', language, { what: label(language) }));
}

// ---- What a call would do, in words

const MAX_VALUE_CHARACTERS = 200;
/** The question must fit into one message. */
const MAX_ACTION_CHARACTERS = 1_500;

/** `cancel_order` → `cancel order` */
const actionName = ({ name }: AgentTool): string => readableName(name).toLowerCase();

/** `cancel order A-1042`, or `book table: date 2026-12-31, people 4`. */
function actionOf(tool: AgentTool, args: JsonObject, language: Language): string {
  const values = Object.entries(args).flatMap(([name, value]) => inPairs(name, value, language));
  const [first] = values;
  if (first === undefined) return actionName(tool);
  if (values.length === 1) return `${actionName(tool)} ${first.value}`;
  const list = values.map(({ name, value }) => `${name} ${value}`).join(', ');
  return cut(`${actionName(tool)}: ${list}`, MAX_ACTION_CHARACTERS);
}

interface Pair {
  readonly name: string;
  readonly value: string;
}

function inPairs(name: string, value: Json, language: Language): readonly Pair[] {
  const pair = (text: string) => [
    { name: readableName(name).toLowerCase(), value: cut(text, MAX_VALUE_CHARACTERS) },
  ];
  if (typeof value === 'boolean') return pair(sentence(value ? 'yes' : 'no', language));
  if (value === null) return [];
  if (Array.isArray(value)) return pair(value.join(', '));
  if (typeof value === 'object')
    return Object.entries(value).flatMap(([inner, each]) => inPairs(inner, each, language));
  return pair(String(value).replace(/\s+/g, ' '));
}

// ---- Results that a message of the customer overtook

/** Puts results that the customer has not heard of before the answer. */
function withUntold(turn: Turn, step: Step): Step {
  if (step.type === 'tool_calls') return step;
  const told = inWords(
    callsSince(turn.history, ({ type }) => type === 'reply'),
    turn.language,
  );
  if (told === null) return step;
  if (step.type === 'reply') return { ...step, text: `${told}\n\n${step.text}` };
  if (contentTerms(currentRequest(turn.history).newest).length === 0) return reply(told);
  return { ...step, text: `${told}\n\n${sentence('handOverUnknown', turn.language)}` };
}
