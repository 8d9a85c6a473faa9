import type { FILTER_WORDS, Filter } from '../filter.ts';

/** A filter in a reader's words. */

export type WordList = keyof typeof FILTER_WORDS;

export const LIST_LABELS: Readonly<Record<WordList, string>> = {
  channels: 'Channels',
  statuses: 'Conversation is',
  funnelStages: 'Funnel stage',
  senders: 'Messages of',
  receivedAs: 'Customers write',
};

export const FILTER_LABELS: Readonly<Record<(typeof FILTER_WORDS)[WordList][number], string>> = {
  web_chat: 'Web chat',
  whatsapp_cloud: 'WhatsApp',
  ai_active: 'with the agent',
  awaiting_human: 'waiting for a person',
  human_active: 'with a person',
  closed: 'closed',
  new: 'New',
  engaged: 'Engaged',
  qualified: 'Qualified',
  payment_pending: 'Payment pending',
  customer: 'Customer',
  lost: 'Lost',
  agent: 'the agent',
  team_member: 'the team',
  api: 'automations (API)',
  message: 'on their own',
  answer: 'an answer to a waiting workflow',
};

/** `Channels: WhatsApp. Messages of: the agent, the team.` */
export function filterInWords({ conversationIds = [], ...lists }: Filter): string {
  const parts = (Object.keys(LIST_LABELS) as WordList[])
    .filter((list) => lists[list] !== undefined)
    .map((list) => {
      const words = lists[list]!.map((word) => FILTER_LABELS[word]);
      return `${LIST_LABELS[list]}: ${words.join(', ')}`;
    });
  if (conversationIds.length > 0) parts.push(`Conversations: ${conversationIds.join(', ')}`);
  return parts.join('. ');
}
