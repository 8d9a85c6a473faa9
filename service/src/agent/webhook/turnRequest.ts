import {
  conversationPayload,
  messagePayload,
  type Contact,
  type ConversationView,
  type Message,
} from '../../conversations/index.ts';
import { TEST_CONVERSATION_ID } from '../../tools/index.ts';
import type { AgentSettings } from '../agentSettings.ts';
import type { WebhookTurn } from './webhookTurn.ts';

/** The most messages in `history`. Older ones are left out. */
export const MAX_HISTORY_MESSAGES = 50;

/** The turn, with all that its request says. */
export interface TurnSubject {
  readonly turn: WebhookTurn;
  readonly view: ConversationView;
  readonly settings: AgentSettings;
  /** The customer's messages that wait for an answer, oldest first. */
  readonly messages: readonly Message[];
  /** The newest of the other messages, oldest first. */
  readonly history: readonly Message[];
  /** How many earlier turns of the conversation are suspended: their workflows wait. */
  readonly suspendedTurns: number;
}

/**
 * The turn as its workflow sees it, contact details masked as in events. No field is named `output`,
 * `reply` or `text`, which are read as an answer: some workflows send this body back unchanged.
 * @see docs/events-and-signatures.md, "Signed turns of the agent"
 */
export function turnBody({ turn, view, settings, messages, history, suspendedTurns }: TurnSubject) {
  const { conversation, contact, workspace } = view;
  const shown = messages.map((message) => messagePayload(message, contact));
  const conversationId = turn.isTest ? TEST_CONVERSATION_ID : conversation.id;
  return {
    turn_id: turn.id,
    conversation_id: conversationId,
    control_epoch: turn.controlEpoch,
    conversation: {
      ...conversationPayload(conversation, contact, workspace),
      id: conversationId,
    },
    messages: shown,
    history: history.map((message) => messagePayload(message, contact)),
    transcript: history.map((message) => transcriptLine(message, contact)).join('\n'),
    agent: {
      name: settings.name,
      greeting: settings.greeting,
      instructions: settings.instructions,
      languages: settings.languages,
    },
    chatInput: shown.map(({ text }) => text).join('\n'),
    // A new session for each test, so that the workflow's memory holds no earlier one.
    sessionId: turn.isTest ? turn.id : conversationId,
    suspended_turns: suspendedTurns,
    ...(turn.isTest ? { is_test: true } : {}),
  };
}

const SPEAKERS = { customer: 'Customer', agent: 'Agent', team_member: 'Team', api: 'Automation' };

/** All that Unicode reads as the end of a line. */
const LINE_BREAKS = /[\r\n\v\f\x85\u2028\u2029]+/g;

/**
 * A message after the name of its writer. Its further lines are indented, so that a customer cannot
 * fake a line of the agent.
 */
function transcriptLine(message: Message, contact: Contact): string {
  const { sender, text } = messagePayload(message, contact);
  return `${SPEAKERS[sender.type]}: ${text.replace(LINE_BREAKS, '\n  ')}`;
}
