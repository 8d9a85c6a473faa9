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

/** How many of the newest messages before the customer's a workflow is shown. */
export const MAX_HISTORY_MESSAGES = 50;

/** What a turn is about. */
export interface TurnSubject {
  readonly turn: WebhookTurn;
  readonly view: ConversationView;
  readonly settings: AgentSettings;
  /** The customer's messages that wait for an answer, oldest first. */
  readonly messages: readonly Message[];
  /** The other messages, oldest first. */
  readonly history: readonly Message[];
  /** How many earlier turns of the conversation rest while their workflows wait. */
  readonly suspendedTurns: number;
}

/**
 * The turn as its workflow sees it, contact details masked as in events. No field is named `output`,
 * `reply` or `text`: a workflow whose last node passes on what it was given must not answer with it.
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
    // Each test is a new conversation: a memory must not know the test before it.
    sessionId: turn.isTest ? turn.id : conversationId,
    suspended_turns: suspendedTurns,
    ...(turn.isTest ? { is_test: true } : {}),
  };
}

const SPEAKERS = { customer: 'Customer', agent: 'Agent', team_member: 'Team', api: 'Automation' };

/** Only the first line of a message says who writes, so that a customer cannot speak as the agent. */
function transcriptLine(message: Message, contact: Contact): string {
  const { sender, text } = messagePayload(message, contact);
  return `${SPEAKERS[sender.type]}: ${text.replace(/[\r\n\u2028\u2029]+/g, '\n  ')}`;
}
