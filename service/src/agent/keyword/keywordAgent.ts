import { CREATE_PAYMENT_LINK } from '../../tools/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../platform/json.ts';
import { PatternWork } from '../../platform/linearPattern.ts';
import { unwatchedBounds, type Bounds } from '../../platform/limits/bounds.ts';
import { loopShare, type LoopShare } from '../../platform/limits/loopShare.ts';
import type {
  AgentModel,
  AgentTool,
  HistoryItem,
  Language,
  PastToolCall,
  Step,
  Turn,
} from '../agentModel.ts';
import { chooseTool, contentTerms } from './chooseTool.ts';
import { asksForPaymentDetail, asksToPay, readPayment } from './payment.ts';
import { readArguments, type ReadingContext, type Source } from './readArguments.ts';
import { isFreeText } from './readValue.ts';
import { currentRequest, type CustomerRequest } from './request.ts';
import {
  argumentsOf,
  canBeAsked,
  isLabel,
  isAskedFor,
  labelOf,
  typeOf,
  type Label,
} from './schema.ts';
import { isFarewell, isGreeting, isNo, isThanks, isYes } from './phrases.ts';
import { callInWords, cut } from './resultWording.ts';
import { offersPerson, sentence, type AgentQuestion, type SentenceName } from './sentences.ts';
import { capitalizedName } from '../../platform/reading/words.ts';

/**
 * The built-in agent. It compares words and does not understand them:
 * - It finds a tool by the words of its name, description, arguments and example phrases, in the
 *   languages in which they are written. It translates nothing and knows no synonyms.
 * - It calls a read-only tool as soon as a message fits it. Before it calls any other tool, it tells
 *   the customer what it would do, with the arguments, and waits for a plain yes.
 * - It reads arguments by type, enum, format and pattern. It asks for one missing argument at a time,
 *   at most twice. It cannot fill objects: a person handles a tool that requires one.
 * - It answers one request at a time. It does not notice a second request, a condition or a complaint
 *   in the same message. The question before a call protects the customer from its mistakes.
 * - When it is not sure, it hands over to a person.
 * It keeps no state between steps: it reads an open question from its own last reply.
 * @param now the clock for "today" and "tomorrow"
 * @see docs/decisions/0009-keyword-agent.md
 */
export function createKeywordAgent(
  now: () => Date = () => new Date(),
  bounds: Bounds = unwatchedBounds,
  share: LoopShare = loopShare,
): AgentModel<Step> {
  return {
    decidedBy: 'keyword',
    next: (turn, signal) =>
      share.run(
        SHARED_QUEUE,
        () => {
          const work = new PatternWork(MAX_WORK_PER_STEP);
          const step = new Deciding(turn, now(), work).next();
          if (work.isSpent) bounds.reached('pattern_work');
          return step;
        },
        signal,
      ),
  };
}

/** All workspaces share one queue for the event loop, since a step takes only a moment. */
const SHARED_QUEUE = 'agents';

/** The work of reading values in one step. It takes about a tenth of a second at most. */
const MAX_WORK_PER_STEP = 8_000_000;

/** After this many questions for the same argument, the agent hands over. */
const MAX_QUESTIONS_FOR_ARGUMENT = 2;

const HAND_OVER: Step = { type: 'hand_over', reason: 'missing_knowledge', text: null };
const reply = (text: string): Step => ({ type: 'reply', text });
const isReply = (item: HistoryItem) => item.type === 'reply' && item.isBesideAgent !== true;

/** What the agent would do for a request: a tool, or a payment link. */
interface Plan {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** What the call does, in words for the customer. Null for a read-only tool. */
  readonly action: string | null;
  /** What to ask the customer for first. */
  readonly missing: Label | null;
  /** Reading stopped early, or the customer cannot be asked for the missing value: hand over. */
  readonly isHopeless: boolean;
}

/** Decides one step of a turn. */
class Deciding {
  readonly #turn: Turn;
  readonly #context: ReadingContext;
  /** Without the tool for payment links, which has its own plan. */
  readonly #tools: readonly AgentTool[];
  readonly #makesLinks: boolean;
  readonly #request: CustomerRequest;

  constructor(turn: Turn, now: Date, work: PatternWork) {
    this.#turn = turn;
    this.#context = { language: turn.language, now, work };
    this.#tools = turn.tools.filter(({ name }) => name !== CREATE_PAYMENT_LINK);
    this.#makesLinks = this.#tools.length < turn.tools.length;
    this.#request = currentRequest(turn.history);
  }

  next(): Step {
    const newest = this.#turn.history.at(-1);
    if (newest?.type === 'tool_calls' || newest?.type === 'late_result') return this.#afterCalls();
    if (newest?.type === 'customer') return this.#withUntold(this.#answerCustomer());
    return HAND_OVER;
  }

  #say(name: SentenceName, values?: Readonly<Record<string, string>>): Step {
    return reply(sentence(name, this.#turn.language, values));
  }

  // ---- After tool calls

  #afterCalls(): Step {
    const told = this.#untoldResults();
    if (told !== null) return reply(told);
    const refused = callsSince(this.#turn.history, isReply).findLast(
      ({ status }) => status === 'invalid',
    );
    return refused === undefined ? HAND_OVER : this.#askAgain(refused);
  }

  /** Results to tell the customer. A single one stays whole; several together are cut. */
  #untoldResults(): string | null {
    const words = callsSince(this.#turn.history, isReply)
      .map((call) => callInWords(call, this.#turn.language))
      .filter((each) => each !== null);
    const sentences = [...new Set(words)];
    if (sentences.length === 0) return null;
    return sentences.length === 1 ? sentences[0]! : cut(sentences.join('\n\n'));
  }

  /** Tells results first when the customer has written before hearing of them. */
  #withUntold(step: Step): Step {
    const told = step.type === 'tool_calls' ? null : this.#untoldResults();
    if (step.type === 'tool_calls' || told === null) return step;
    if (step.type === 'reply') return { ...step, text: `${told}\n\n${step.text}` };
    if (contentTerms(this.#request.newest).length === 0) return reply(told);
    return { ...step, text: `${told}\n\n${sentence('handOverUnknown', this.#turn.language)}` };
  }

  /** Asks again for the argument that the refusal of a call names. */
  #askAgain(refused: PastToolCall): Step {
    const words = refused.outcome.split(/[^\p{L}\p{N}_$-]+/u);
    const named = this.#tools
      .filter(({ name }) => name === refused.tool)
      .flatMap(argumentsOf)
      .find((argument) => canBeAsked(argument) && words.includes(argument.name));
    return named === undefined ? HAND_OVER : this.#ask(labelOf(named));
  }

  // ---- After a message of the customer

  /** Answers a customer's message. A request for a person never gets here: `decideTurn` answers it. */
  #answerCustomer(): Step {
    return (
      this.#answerToDeclinedOffer() ??
      this.#answerToFarewell() ??
      this.#answerToQuestion() ??
      this.#answerToSmallTalk() ??
      this.#answerToRequest()
    );
  }

  /** Answers "No, thanks" to the offer of a person. A "yes" to it never gets here either. */
  #answerToDeclinedOffer(): Step | null {
    const lastReply = this.#turn.history.findLast((item) => item.type === 'reply');
    const wasOffered = lastReply?.from === 'agent' && offersPerson(lastReply.text);
    return wasOffered && isNo(this.#request.newest) ? this.#say('allRight') : null;
  }

  /** Answers a farewell, and closes unless somebody still has something to decide or to answer. */
  #answerToFarewell(): Step | null {
    const { newest, questions } = this.#request;
    const { history, language, mayClose } = this.#turn;
    const calls = callsSince(history);
    const hasSucceeded = calls.some(({ status }) => status === 'succeeded');
    const isServed = hasSucceeded && questions.length === 0;
    if (!isFarewell(newest) && !(isThanks(newest) && isServed)) return null;
    if (!mayClose) return this.#say('youAreWelcome');
    const verdict = hasSucceeded ? 'goal_reached' : 'unknown';
    const summary = summaryOf(history, calls);
    return { type: 'reply', text: sentence('farewell', language), close: { verdict, summary } };
  }

  #answerToSmallTalk(): Step | null {
    const { newest } = this.#request;
    if (isGreeting(newest)) return this.#say('howCanIHelp');
    if (isThanks(newest)) return this.#say('youAreWelcome');
    if (!isYes(newest) && !isNo(newest) && /[\p{L}\p{N}?]/u.test(newest)) return null;
    return this.#say(this.#turn.history.some(isReply) ? 'allRight' : 'howCanIHelp');
  }

  /** Tries the team's own tools first, then a payment link, then a tool that answers any question. */
  #answerToRequest(): Step {
    const { newest } = this.#request;
    const sources: readonly Source[] = [{ text: newest, asked: null, isCorrection: false }];
    const tool = chooseTool(newest, this.#tools);
    if (tool !== null) return this.#carryOut(this.#planOf(tool, sources), []);
    if (this.#makesLinks && asksToPay(newest, this.#turn.language))
      return this.#carryOut(this.#paymentPlan(sources), []);
    const answering = contentTerms(newest).length > 0 ? this.#answeringTool() : undefined;
    return answering === undefined
      ? HAND_OVER
      : this.#carryOut(this.#planOf(answering, sources), []);
  }

  /** The one read-only tool that takes any question, and nothing else. */
  #answeringTool(): AgentTool | undefined {
    const found = this.#tools.filter((tool) => {
      const required = argumentsOf(tool).filter((argument) => argument.required);
      return tool.readOnly && required.length === 1 && isFreeText(required[0]!);
    });
    return found.length === 1 ? found[0] : undefined;
  }

  // ---- The answer to a question of ours

  #answerToQuestion(): Step | null {
    const [question] = this.#request.questions;
    if (question === undefined) return null;
    if (isNo(this.#request.newest) && !this.#isAmbiguousNo(question)) return this.#say('allRight');
    return question.type === 'confirmation'
      ? this.#answerToConfirmation(question.what)
      : this.#answerToArgument(question.what);
  }

  /**
   * Whether a "no" may mean something else: it can be the value of a boolean argument, and "cancel"
   * after "Shall I cancel…?" may mean yes or no.
   */
  #isAmbiguousNo({ type, what }: AgentQuestion): boolean {
    if (type === 'confirmation') return /cancel/i.test(this.#request.newest);
    return this.#tools
      .flatMap(argumentsOf)
      .some((argument) => isAskedFor(argument, what) && typeOf(argument.schema) === 'boolean');
  }

  /**
   * Answers a reply to "Shall I …?". A plain yes makes the call, with the arguments that the question
   * repeated: they are read again from the same messages, and must give the same question. Any other
   * reply makes no call, and other values lead to another question.
   */
  #answerToConfirmation(action: string): Step | null {
    const { newest, sources } = this.#request;
    if (isYes(newest)) {
      const withoutYes = sources.slice(1);
      const plans = this.#plansAskedAbout(action, withoutYes);
      const [confirmed, another] = plans.filter(
        (plan) => plan.action === action && plan.missing === null,
      );
      // `cancel_order` and `cancelOrder`: the question fits both, and only one was meant.
      if (another !== undefined) return HAND_OVER;
      if (confirmed !== undefined) return this.#turn.mayCallTools ? call(confirmed) : HAND_OVER;
      return plans[0] ? this.#carryOut(plans[0]) : HAND_OVER;
    }
    const [plan] = this.#plansAskedAbout(action, sources);
    const meant = chooseTool(newest, this.#tools);
    const isSame = meant === null ? plan?.action !== action : meant.name === plan?.tool;
    return plan !== undefined && isSame ? this.#carryOut(plan) : null;
  }

  /** The plans that our question may have been about. Those whose words fit it come first. */
  #plansAskedAbout(action: string, sources: readonly Source[]): readonly Plan[] {
    const tools = this.#tools.filter((tool) => action.startsWith(actionName(tool)));
    if (tools.length === 0 && this.#makesLinks)
      return [this.#paymentPlan(sources)].filter(({ missing }) => missing === null);
    return tools
      .sort((a, b) => b.name.length - a.name.length)
      .map((tool) => this.#planOf(tool, sources));
  }

  /** The newest message answers a question of ours, unless it clearly means another tool. */
  #answerToArgument(what: string): Step | null {
    const plan = this.#planForArgument(what);
    if (plan === null) return null;
    const isStillMissing = plan.missing !== null && isLabel(plan.missing, what);
    const meant = isStillMissing ? chooseTool(this.#request.newest, this.#tools) : null;
    return meant === null || meant.name === plan.tool ? this.#carryOut(plan) : null;
  }

  #planForArgument(what: string): Plan | null {
    const { sources } = this.#request;
    if (this.#makesLinks && asksForPaymentDetail(what)) return this.#paymentPlan(sources);
    const askers = this.#tools.filter((tool) =>
      argumentsOf(tool).some((argument) => isAskedFor(argument, what)),
    );
    const opening = sources.at(-1)?.text ?? '';
    const tool = askers.length > 1 ? chooseTool(opening, askers) : askers[0];
    return tool ? this.#planOf(tool, sources) : null;
  }

  // ---- Plans

  #planOf(tool: AgentTool, sources: readonly Source[]): Plan {
    const { arguments: args, missing } = readArguments(tool, sources, this.#context);
    return {
      tool: tool.name,
      arguments: args,
      action: tool.readOnly ? null : actionOf(tool, args, this.#turn.language),
      missing: missing && labelOf(missing),
      isHopeless: missing === null ? this.#context.work.isSpent : !canBeAsked(missing),
    };
  }

  #paymentPlan(sources: readonly Source[]): Plan {
    const payment = readPayment(sources, this.#turn.language);
    return { ...payment, tool: CREATE_PAYMENT_LINK, isHopeless: false };
  }

  /**
   * Asks for a missing value, or asks the customer to confirm a call that changes something, or calls
   * a read-only tool.
   */
  #carryOut(plan: Plan, questions = this.#request.questions): Step {
    if (plan.isHopeless) return HAND_OVER;
    if (plan.missing !== null) return this.#ask(plan.missing, questions);
    if (!this.#turn.mayCallTools) return HAND_OVER;
    if (plan.action === null) return call(plan);
    return this.#say('confirmCall', { action: plan.action });
  }

  /** @param questions those asked so far for the same request */
  #ask(label: Label, questions = this.#request.questions): Step {
    const asked = questions.filter(({ type, what }) => type === 'argument' && isLabel(label, what));
    if (asked.length >= MAX_QUESTIONS_FOR_ARGUMENT) return HAND_OVER;
    return this.#say('askForArgument', { what: label(this.#turn.language) });
  }
}

/**
 * The amount of a payment link is only what the customer said. So a person has to approve it, even if
 * the team lets a language model make links by itself.
 */
const call = ({ tool, arguments: args }: Plan): Step => ({
  type: 'tool_calls',
  calls: [
    { tool, arguments: args, ...(tool === CREATE_PAYMENT_LINK ? { needsApproval: true } : {}) },
  ],
});

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

/** What the team reads about a conversation that the agent closed. */
function summaryOf(history: readonly HistoryItem[], calls: readonly PastToolCall[]): string {
  const isSmallTalk = (text: string) => isGreeting(text) || isThanks(text) || isFarewell(text);
  const opening = history
    .filter((item) => item.type === 'customer')
    .find(({ text }) => !isSmallTalk(text));
  const asked = opening
    ? `The customer wrote "${cut(opening.text.replace(/\s+/g, ' ').trim(), 200)}"`
    : 'The customer asked for nothing in particular';
  const succeeded = calls.filter(({ status }) => status === 'succeeded');
  const told = succeeded.length > 0 ? succeeded : calls;
  if (told.length === 0) return `${asked}, and no tool was called.`;
  const tools = [...new Set(told.map(({ tool }) => tool))].slice(0, 5).join(', ');
  return `${asked}, and ${tools} ${told === succeeded ? 'succeeded' : 'did not succeed'}.`;
}

// ---- What a call would do, in words

const MAX_VALUE_CHARACTERS = 200;
/** The question must fit into one message. */
const MAX_ACTION_CHARACTERS = 1_500;

/** `cancel_order` → `cancel order` */
const actionName = ({ name }: AgentTool): string => capitalizedName(name).toLowerCase();

/** `cancel order A-1042`, or `book table: date 2026-12-31, people 4`. */
function actionOf(tool: AgentTool, args: JsonObject, language: Language): string {
  const values = Object.entries(args).map(([name, value]) => ({
    name: capitalizedName(name).toLowerCase(),
    value: cut(valueInWords(value, language).replace(/\s+/g, ' '), MAX_VALUE_CHARACTERS),
  }));
  if (values.length === 0) return actionName(tool);
  if (values.length === 1) return `${actionName(tool)} ${values[0]!.value}`;
  const list = values.map(({ name, value }) => `${name} ${value}`).join(', ');
  return cut(`${actionName(tool)}: ${list}`, MAX_ACTION_CHARACTERS);
}

/** An object is the tool's own default: a customer cannot give one. */
function valueInWords(value: Json, language: Language): string {
  if (typeof value === 'boolean') return sentence(value ? 'yes' : 'no', language);
  if (Array.isArray(value)) return value.map((item) => valueInWords(item, language)).join(',');
  return isJsonObject(value) ? JSON.stringify(value) : String(value);
}
