/** What other subjects may use of conversations/; nothing else. */

export type { ContactReveal } from './contacts/contactReveal.ts';
export { listReveals, type RevealView } from './contacts/reveals.ts';
export {
  CHANNEL_TYPES,
  type ChannelType,
  type Contact,
  type Forgetting,
  isForgotten,
  MAX_CONTACT_NAME_CHARACTERS,
  REMOVED_KINDS,
  type RemovedKind,
  WEB_CHAT,
} from './contact.ts';
export {
  forgetContact,
  type ForgetPreview,
  readForgetPreview,
  readForgotten,
} from './contacts/forgetContact.ts';
export { renameContact } from './contacts/renameContact.ts';
export {
  AGENT_HANDOVER_REASONS,
  type AgentHandoverReason,
  assertOpen,
  awaitReply,
  type Conversation,
  CONVERSATION_STATUSES,
  type ConversationStatus,
  FUNNEL_STAGES,
  type FunnelStage,
  handOver,
  type Handover,
  type HandoverReason,
  isCustomerWaiting,
  MAX_SUMMARY_CHARACTERS,
  openConversation,
  type Outcome,
  positionOf,
  type Verdict,
  VERDICTS,
  waitForTeam,
} from './conversation.ts';
export { waitIfUnanswered, waitSinceLastMessage } from './operations/waitIfUnanswered.ts';
export { type AnsweredBy, countHandover } from './counted.ts';
export {
  type DecidedBy,
  DECIDED_BY,
  type DeliveryState,
  isDialogue,
  isResendable,
  lastDialogueMessage,
  MAX_MESSAGE_CHARACTERS,
  MAX_REPLY_CHARACTERS,
  type Message,
  type MessageExtras,
  type SenderType,
} from './message.ts';
export type { Messaging } from './messaging.ts';
export { actorName, customerName } from './names.ts';
export {
  conversationPayload,
  emitEvent,
  type EventDetail,
  eventPayload,
  messagePayload,
} from './payload.ts';
export { idOfReadMark, unreadOf } from './readMark.ts';
export { MAX_NOTE_CHARACTERS, newSystemNote, type SystemNote } from './systemNote.ts';
export { assignConversation, releaseConversationsOf } from './operations/assign.ts';
export {
  closeConversation,
  handBackConversation,
  lockActor,
  putClosed,
  takeOverConversation,
} from './operations/control.ts';
export {
  type ConversationView,
  findContactOf,
  findLastConversation,
  findNewestMessages,
  loadConversation,
  peekConversation,
  withContacts,
  withShownContacts,
} from './operations/conversations.ts';
export { findReceived, receiveMessage, storeReceived } from './operations/receiveMessage.ts';
export { resendMessage } from './operations/resendMessage.ts';
export { sendMessage, storeReply } from './operations/sendMessage.ts';
export { beginTyping, endTyping, findTyping, type Typing } from './typing.ts';
export { excerptOf, type Excerpt } from './search/excerpt.ts';
export { searchConversations } from './search/searchConversations.ts';
export { readWordQuery, type WordQuery } from './search/wordQuery.ts';
export { writeNote } from './operations/writeNote.ts';
export { STAGE_LABELS } from './stageLabels.ts';
export { advanceFunnelStage, setFunnelStage } from './operations/setFunnelStage.ts';
