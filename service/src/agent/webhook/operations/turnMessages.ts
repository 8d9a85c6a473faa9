import {
  countHandover,
  findNewestMessages,
  handOver,
  MAX_REPLY_CHARACTERS,
  storeReply,
  type AgentHandoverReason,
  type Conversation,
  type ConversationView,
  type DecidedBy,
  type Message,
} from '../../../conversations/index.ts';
import type { Actor } from '../../../platform/actor.ts';
import type { Deps } from '../../../platform/deps.ts';
import { notFound } from '../../../platform/http/errorCatalogue.ts';
import { maskText } from '../../../platform/masking.ts';
import type { Tx } from '../../../store/collections.ts';
import type { AgentSettings } from '../../agentSettings.ts';
import { cutText } from '../../cutText.ts';
import { sentence, type SentenceName } from '../../keyword/sentences.ts';
import { languageOf } from '../../turn/decideTurn.ts';
import { noteHandover } from '../../turn/noteHandover.ts';
import { greetingOf } from '../../turn/replyText.ts';
import { MAX_HANDOVER_NOTE_CHARACTERS, type WebhookTurn } from '../webhookTurn.ts';
import { findAgentSettings } from '../../operations/settings.ts';

/** What sending the messages of a turn needs. */
interface TurnContext {
  readonly turn: Pick<WebhookTurn, 'workspaceId' | 'isResumed'>;
  readonly view: ConversationView;
  readonly settings: AgentSettings;
  /** The newest messages, in the order in which they were written. */
  readonly messages: readonly Message[];
  readonly actor: Actor;
  /** Who decided the messages; absent for the service's own. */
  readonly decidedBy?: DecidedBy;
}

/** Enough to detect the customer's language, and whether the agent has written before. */
const MESSAGES_READ = 20;

export async function loadContext(
  tx: Tx,
  turn: TurnContext['turn'],
  conversation: Conversation,
): Promise<TurnContext> {
  const workspace = await tx.workspaces.peek(turn.workspaceId);
  const contact = await tx.contacts.peek(conversation.contactId);
  if (!workspace || !contact) throw notFound('conversation', conversation.id);
  const settings = await findAgentSettings(tx, workspace.id);
  return {
    turn,
    view: { workspace, contact, conversation },
    settings,
    messages: await findNewestInOrder(tx, conversation),
    actor: { type: 'agent', name: settings.name },
  };
}

/** The newest `MESSAGES_READ` messages, in the order in which they were written. */
export const findNewestInOrder = async (
  tx: Tx,
  { id }: Conversation,
): Promise<readonly Message[]> => (await findNewestMessages(tx, id, MESSAGES_READ)).toReversed();

/** Sends messages as the agent. The first one of the conversation begins with the greeting. */
export async function sendTexts(
  tx: Tx,
  deps: Pick<Deps, 'messaging'>,
  { turn, view, settings, messages: before, actor, decidedBy }: TurnContext,
  texts: readonly string[],
  now: Date,
): Promise<{ view: ConversationView; messages: readonly Message[] }> {
  const messages: Message[] = [];
  let { conversation } = view;
  for (const text of texts) {
    const greeting = greetingOf({ settings, messages: [...before, ...messages] });
    const reply = {
      text: withGreeting(text, greeting),
      actor,
      ...(decidedBy && { decidedBy }),
      // A turn that rested writes beside newer messages, which have a turn of their own.
      ...(turn.isResumed && { isBesideAgent: true }),
    };
    const stored = await storeReply(tx, deps, { ...view, conversation }, reply, now);
    ({ conversation } = stored);
    messages.push(stored.message);
  }
  return { view: { ...view, conversation }, messages };
}

/** Puts the greeting first, unless the workflow, which knows it, has written it already. */
export const withGreeting = (text: string, greeting: string | null): string =>
  greeting === null || text.startsWith(greeting)
    ? text
    : cutText(`${greeting}\n\n${text}`, MAX_REPLY_CHARACTERS);

/** Hands over, with a last message if there is one. */
export async function putHandover(
  tx: Tx,
  deps: Pick<Deps, 'messaging' | 'reactions'>,
  context: TurnContext,
  { reason, note, text }: { reason: AgentHandoverReason; note: string | null; text: string | null },
  now: Date,
): Promise<{ view: ConversationView; messages: readonly Message[] }> {
  const { view, actor } = context;
  const handedOver = handOver(view.conversation, { reason, note, actor }, now);
  const after = { ...view, conversation: handedOver };
  await countHandover(tx, view.conversation, reason, now);
  if (text === null) await tx.conversations.put(handedOver);
  const last = { ...context, view: after };
  const sent = await sendTexts(tx, deps, last, text === null ? [] : [text], now);
  const conversation = await noteHandover(tx, deps, sent.view, { reason, note }, actor, now);
  return { ...sent, view: { ...sent.view, conversation } };
}

const HANDOVER_SENTENCES: Record<AgentHandoverReason, SentenceName> = {
  customer_request: 'handOverOnRequest',
  missing_knowledge: 'handOverByWorkflow',
  tool_failure: 'handOverOnRequest',
  agent_error: 'handOverAfterError',
};

/** What the service itself tells the customer about a handover. */
export const handoverSentence = (context: TurnContext, reason: AgentHandoverReason): string =>
  sentence(HANDOVER_SENTENCES[reason], languageOf(context));

/** A problem as the note of a handover for the team. */
export const noteOf = (problem: string, { view }: TurnContext): string =>
  cutText(maskText(problem, view.contact), MAX_HANDOVER_NOTE_CHARACTERS);
