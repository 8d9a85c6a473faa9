import { STAGE_LABELS } from '../../conversations/index.ts';
import type { FILTER_WORDS, Filter } from '../filter.ts';

export type WordList = keyof typeof FILTER_WORDS;

export const LIST_LABELS: Readonly<Record<WordList, string>> = {
  channels: 'Channels',
  statuses: 'Conversation is',
  funnelStages: 'Funnel stage',
  senders: 'Messages of',
  receivedAs: 'Customers write',
};

const FILTER_LABELS: {
  readonly [List in WordList]: Readonly<Record<(typeof FILTER_WORDS)[List][number], string>>;
} = {
  channels: {
    web_chat: 'Web chat',
    whatsapp_cloud: 'WhatsApp',
  },
  statuses: {
    ai_active: 'with the agent',
    awaiting_human: 'waiting for a person',
    human_active: 'with a person',
    closed: 'closed',
  },
  funnelStages: STAGE_LABELS,
  senders: {
    customer: 'the customer',
    agent: 'the agent',
    team_member: 'the team',
    api: 'automations (API)',
  },
  receivedAs: { message: 'on their own', answer: 'an answer to a waiting workflow' },
};

/** @param word one of the list's */
export const filterLabel = (list: WordList, word: string): string =>
  (FILTER_LABELS[list] as Readonly<Record<string, string>>)[word]!;

/** A filter as the screens show it: `Channels: WhatsApp. Messages of: the agent, the team`. */
export function filterInWords({ conversationIds = [], ...lists }: Filter): string {
  const parts = (Object.keys(LIST_LABELS) as WordList[])
    .filter((list) => lists[list] !== undefined)
    .map((list) => {
      const words = lists[list]!.map((word) => filterLabel(list, word));
      return `${LIST_LABELS[list]}: ${words.join(', ')}`;
    });
  if (conversationIds.length > 0) parts.push(`Conversations: ${conversationIds.join(', ')}`);
  return parts.join('. ');
}
