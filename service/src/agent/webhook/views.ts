import { conversationJson, trackedMessageJson } from '../../conversations/views.ts';
import { TEST_CONVERSATION_ID } from '../../tools/index.ts';
import type { AnsweredTurn } from './operations/answerTurn.ts';
import type { WebhookTurn } from './webhookTurn.ts';

/** A turn in the API's answers. Its `problem` was masked when it was stored. */
export const turnJson = (turn: WebhookTurn) => ({
  turn_id: turn.id,
  conversation_id: turn.conversationId ?? TEST_CONVERSATION_ID,
  status: turn.status,
  outcome: turn.outcome,
  problem: turn.problem,
  attempts: turn.attempts,
  messages_sent: turn.replies,
  is_test: turn.isTest,
  is_resumed: turn.isResumed,
  created_at: turn.createdAt,
  started_at: turn.startedAt,
  deadline: turn.deadline,
  ended_at: turn.endedAt,
});

export const answeredTurnJson = ({ turn, messages, view }: AnsweredTurn) => ({
  turn: turnJson(turn),
  messages:
    view === null ? [] : messages.map((message) => trackedMessageJson(message, view.contact)),
  conversation: view && conversationJson(view),
});
