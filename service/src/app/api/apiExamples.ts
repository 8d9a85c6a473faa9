import { answeredTurnJson, publishedWebhookJson, turnJson } from '../../agent/webhook/views.ts';
import type { TurnOutcome, WebhookTurn } from '../../agent/webhook/webhookTurn.ts';
import type { Channel } from '../../channels/channel.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Delivery } from '../../deliveries/delivery.ts';
import { EVENT_DESCRIPTIONS, EVENT_NAMES, type EventName } from '../../deliveries/event.ts';
import { sampleMessage, samplePayload, samplePayment, sampleView } from '../../events/samples.ts';
import type { Subscription } from '../../deliveries/subscription.ts';
import type { Tool } from '../../tools/tool.ts';
import { TEST_CONVERSATION_ID, type ToolCall } from '../../tools/calls/toolCall.ts';
import type { Workspace } from '../../team/workspace.ts';
import { channelJson } from '../../channels/views.ts';
import { chatMessageJson } from '../../channels/web_chat/views.ts';
import {
  conversationJson,
  conversationWithMessagesJson,
  messageJson,
  noteJson,
} from '../../conversations/views.ts';
import { contactJson, revealedContactJson } from '../../conversations/contacts/views.ts';
import type { Message } from '../../conversations/message.ts';
import type { ConversationView } from '../../conversations/operations/conversations.ts';
import { newSystemNote } from '../../conversations/systemNote.ts';
import { paymentAccountJson, paymentLinkJson } from '../../payments/views.ts';
import { deliveryJson, subscriptionJson } from '../../deliveries/views.ts';
import type { Wait } from '../../waits/wait.ts';
import { waitJson } from '../../waits/views.ts';
import { toolCallListJson, toolJson } from '../../tools/views.ts';
import type { AgentWebhook } from '../../agent/webhook/agentWebhook.ts';
import { agentJson } from '../../agent/views.ts';
import type { Owner } from '../../platform/owner.ts';

/** Examples for the OpenAPI document, made by the code that makes the real answers. */

const NOW = new Date('2026-11-21T10:00:00.000Z');
const ID = '01JD6Z0000000000000000000A';
const WORKSPACE: Workspace = {
  id: `ws_${ID}`,
  slug: 'acme',
  name: 'Acme',
  agentId: `agent_${ID}`,
  createdAt: timestamp(NOW),
};

const subscription: Subscription = {
  id: `sub_${ID}`,
  workspaceId: WORKSPACE.id,
  event: 'message.received',
  targetUrl: 'https://n8n.example.com/webhook/6f1c2a52/webhook',
  source: 'n8n',
  secrets: [],
  revision: 1,
  removedAt: null,
  consecutiveFailures: 0,
  lastDeliveryAt: timestamp(NOW),
  createdAt: timestamp(NOW),
};

const delivery: Delivery = {
  id: `dlv_${ID}`,
  workspaceId: WORKSPACE.id,
  subscriptionId: subscription.id,
  eventId: `evt_${ID}`,
  event: 'message.received',
  status: 'delivered',
  attempts: [
    {
      number: 1,
      at: timestamp(NOW),
      statusCode: 503,
      durationMs: 41,
      error: 'The receiver answered 503.',
      responseExcerpt: null,
      trigger: 'automatic',
    },
    {
      number: 2,
      at: timestamp(new Date(NOW.getTime() + 5000)),
      statusCode: 200,
      durationMs: 38,
      error: null,
      responseExcerpt: 'ok',
      trigger: 'automatic',
    },
  ],
  roundStart: 0,
  trigger: 'automatic',
  isRepeat: false,
  everDelivered: true,
  nextAttemptAt: null,
  createdAt: timestamp(NOW),
};

const assignee = { id: `mbr_${ID}`, name: 'Ben' };

const tool: Tool = {
  id: `tool_${ID}`,
  workspaceId: WORKSPACE.id,
  name: 'find_order',
  description: 'Finds an order by its number and says where it is.',
  parameters: {
    type: 'object',
    properties: { order_number: { type: 'string', description: 'Order number' } },
    required: ['order_number'],
  },
  kind: 'Webhook',
  endpoint: 'https://n8n.example.com/webhook/6f1c2a52/tool',
  requestTemplate: null,
  timeoutSeconds: 10,
  askBeforeRunning: false,
  readOnly: true,
  examplePhrases: ['where is my order', 'has my package left'],
  status: 'live',
  sealedSecret: null,
  sealedTemplateSecrets: {},
  definitionHash: '',
  testedAt: timestamp(NOW),
  goLiveCallId: null,
  lastTest: { toolCallId: `call_${ID}`, succeeded: true, error: null, at: timestamp(NOW) },
  createdAt: timestamp(NOW),
  updatedAt: timestamp(NOW),
};

const owner: Owner = {
  instanceId: '5d9f1c',
  workflowId: 'rXz41Hqk',
  workflowName: 'Find order',
  nodeId: '2b7c9e4a-3f0d-4c1b-9a52-0f6d8e1c7b33',
  host: 'n8n.example.com',
};
const publishedTool: Tool = { ...tool, publication: { owner, revision: 1 } };

const toolCall: ToolCall = {
  id: `call_${ID}`,
  workspaceId: WORKSPACE.id,
  toolId: tool.id,
  tool: tool.name,
  kind: tool.kind,
  arguments: { order_number: 'A-1042' },
  conversationId: `conv_${ID}`,
  purpose: 'agent',
  definitionHash: '',
  stepId: null,
  controlEpoch: 1,
  afterMessage: 1,
  status: 'succeeded',
  attempts: 1,
  isUnderWay: false,
  httpStatus: 200,
  durationMs: 84,
  resultJson: '{"status":"On its way, with you on Tuesday"}',
  hasLargeResult: false,
  error: null,
  neededApproval: true,
  decision: { approved: true, by: { type: 'api', name: 'n8n' }, note: null, at: timestamp(NOW) },
  expiresAt: null,
  isTold: true,
  createdAt: timestamp(NOW),
  finishedAt: timestamp(NOW),
};
const callExample = toolCallListJson({ call: toolCall, contact: null });
const testExample = { ...callExample, conversation_id: TEST_CONVERSATION_ID, decision: null };
const rejectedExample = {
  ...callExample,
  status: 'rejected',
  attempts: 0,
  http_status: null,
  duration_ms: 0,
  result: null,
  decision: { ...callExample.decision, approved: false },
};

const replyWait: Wait = {
  id: `wait_${ID}`,
  workspaceId: WORKSPACE.id,
  kind: 'reply',
  status: 'answered',
  conversationId: `conv_${ID}`,
  contactId: null,
  turnId: null,
  afterMessage: 2,
  questionId: `msg_${ID}`,
  message: 'Which day suits you?',
  details: null,
  approveLabel: null,
  rejectLabel: null,
  accept: { type: 'choice', choices: ['Tuesday', 'Thursday'] },
  retryMessage: null,
  maxAttempts: 3,
  refusedAnswers: 0,
  remindAfterSeconds: null,
  remindMessage: null,
  remindAt: null,
  judgedThrough: 2,
  judgeAt: null,
  answer: {
    messages: [{ id: `msg_${ID}`, text: 'thursday', createdAt: timestamp(NOW) }],
    value: 'Thursday',
    secondsWaited: 48,
  },
  decision: null,
  sealedResumeUrl: '',
  resumeHost: 'n8n.example.com',
  resumeUrlHash: '',
  resume: {
    state: 'pending',
    attempts: [],
    nextAt: timestamp(NOW),
    problem: null,
  },
  apiKeyId: `key_${ID}`,
  createdBy: { type: 'api', name: 'n8n' },
  isCounted: false,
  expiresAt: timestamp(NOW),
  createdAt: timestamp(NOW),
  endedAt: timestamp(NOW),
  collectedAt: null,
};
const waitExample = waitJson({ wait: replyWait, contact: null }, { id: replyWait.apiKeyId });
const openWaitExample = {
  ...waitExample,
  status: 'open',
  answer: null,
  ended_at: null,
  resume: { ...waitExample.resume, state: 'none', next_attempt_at: null },
};
const collectedExample = {
  ...waitExample,
  collected_at: timestamp(NOW),
  resume: { ...waitExample.resume, state: 'done', next_attempt_at: null },
};
const decidedExample = {
  ...waitExample,
  kind: 'decision',
  status: 'approved',
  message: 'Refund 49.00 USD to order A-1042?',
  details: { order: 'A-1042', amount: '49.00 USD' },
  accept: { type: 'any', choices: [] },
  answer: null,
  decision: {
    approved: true,
    by: { type: 'team_member', name: 'Ana' },
    note: 'Up to 50 EUR.',
    at: timestamp(NOW),
  },
};
const turn: WebhookTurn = {
  id: `turn_${ID}`,
  workspaceId: WORKSPACE.id,
  conversationId: `conv_${ID}`,
  number: 1,
  controlEpoch: 1,
  firstMessage: 1,
  lastMessage: 2,
  status: 'answered',
  outcome: 'reply',
  problem: null,
  attempts: 1,
  isUnderWay: false,
  replies: 1,
  startedAt: timestamp(NOW),
  deadline: null,
  endedAt: timestamp(new Date(NOW.getTime() + 4000)),
  isResumed: false,
  isTest: false,
  createdAt: timestamp(NOW),
};

const view = sampleView('message.received', WORKSPACE, NOW);
const contactView = { contact: view.contact, lastConversationId: view.conversation.id };
const closedView = sampleView('conversation.closed', WORKSPACE, NOW);
const received = sampleMessage('message.received', WORKSPACE, NOW);
const sent = sampleMessage('message.sent', WORKSPACE, NOW);
const agentWebhook: AgentWebhook = {
  id: WORKSPACE.id,
  workspaceId: WORKSPACE.id,
  endpoint: 'https://n8n.example.com/webhook/6f1c2a52/agent',
  timeoutSeconds: 60,
  sealedSecret: '',
  owner: { ...owner, workflowName: 'Support agent' },
  revision: 1,
  publishedAt: timestamp(NOW),
  removedAt: null,
};
const agentExample = agentJson(
  WORKSPACE,
  {
    id: WORKSPACE.id,
    workspaceId: WORKSPACE.id,
    name: 'Ana',
    greeting: 'Hello from Acme!',
    instructions: '',
    languages: ['en', 'es'],
    enabled: true,
    handoverPhrases: ['hablar con ventas'],
    updatedAt: timestamp(NOW),
  },
  agentWebhook,
  { name: 'keyword', decidedBy: 'keyword' },
);
const answeredTurn = (outcome: TurnOutcome, answered: ConversationView, replies: number) =>
  answeredTurnJson({
    turn: { ...turn, outcome, replies },
    messages: Array<Message>(replies).fill(sent),
    view: answered,
  });
const PUBLIC_URL = 'https://conversations.example.com';
const connectionExample = {
  ok: true,
  message: 'WhatsApp knows this number as +1 555 078 3881 (Acme).',
  at: timestamp(NOW),
};
const payment = samplePayment(WORKSPACE, NOW);
const linkExample = paymentLinkJson(
  { ...payment, status: 'open', paidAt: null },
  view.contact,
  `${PUBLIC_URL}/pay/SAMPLE`,
);
const accountExample = paymentAccountJson(
  {
    id: `pac_${ID}`,
    workspaceId: WORKSPACE.id,
    provider: 'stripe',
    settings: {},
    sealedSecrets: { secret_key: '', webhook_secret: '' },
    lastTest: null,
    createdAt: timestamp(NOW),
    updatedAt: timestamp(NOW),
  },
  PUBLIC_URL,
);
const channel: Channel = {
  id: `chan_${ID}`,
  workspaceId: WORKSPACE.id,
  type: 'whatsapp_cloud',
  name: 'Shop',
  account: '106540352242922',
  settings: { phone_number_id: '106540352242922' },
  sealedSecrets: { access_token: '', app_secret: '', verify_token: '' },
  lastTest: connectionExample,
  lastInboundAt: timestamp(NOW),
  createdAt: timestamp(NOW),
  updatedAt: timestamp(NOW),
};
const channelExample = channelJson(channel, { verify_token: '8f3b0c1d5e' }, PUBLIC_URL);
const secret = 'whsec_UgqWTtfYtSv/OPqNdwqem9U/CSj49JkhQ5Jcj++76eI=';
const list = (item: unknown) => ({ data: [item], next_cursor: null });

export const payloadExample = (event: EventName) => samplePayload(event, WORKSPACE, NOW);

/** By operation id. */
export const ANSWER_EXAMPLES: Readonly<Record<string, unknown>> = {
  createTool: { ...toolJson({ ...tool, status: 'draft', testedAt: null, lastTest: null }), secret },
  listTools: list(toolJson(tool)),
  getTool: toolJson(tool),
  updateTool: toolJson(tool),
  deleteTool: { id: tool.id, deleted: true },
  testTool: testExample,
  goLive: { ...toolJson(tool), notice: null },
  pauseTool: toolJson({ ...tool, status: 'paused' }),
  rotateToolSecret: { ...toolJson(tool), secret },
  publishTool: { ...toolJson(publishedTool), secret: null, notice: null },
  unpublishTool: { name: tool.name, paused: true },
  listToolCalls: list(callExample),
  getToolCall: callExample,
  approveToolCall: {
    ...callExample,
    status: 'running',
    attempts: 0,
    http_status: null,
    duration_ms: 0,
    result: null,
    finished_at: null,
  },
  rejectToolCall: rejectedExample,
  openWait: openWaitExample,
  listWaits: list(collectedExample),
  getWait: waitExample,
  collectWait: collectedExample,
  cancelWait: {
    ...openWaitExample,
    status: 'cancelled',
    cancelled_by: { type: 'api', name: 'n8n' },
    ended_at: timestamp(NOW),
    resume: { ...waitExample.resume, state: 'pending', next_attempt_at: timestamp(NOW) },
  },
  decideWait: decidedExample,
  getAgent: agentExample,
  updateAgent: agentExample,
  publishWebhook: publishedWebhookJson({ webhook: agentWebhook, secret, isAgentOn: true }),
  unpublishWebhook: { removed: true },
  listenForTest: { secret, expires_at: timestamp(new Date(NOW.getTime() + 120_000)) },
  stopListening: { removed: true },
  listAgentTurns: list(turnJson(turn)),
  getAgentTurn: turnJson(turn),
  replyInTurn: answeredTurn('reply', sampleView('message.sent', WORKSPACE, NOW), 1),
  handOverInTurn: answeredTurn(
    'hand_over',
    sampleView('conversation.awaiting_human', WORKSPACE, NOW),
    0,
  ),
  closeInTurn: answeredTurn('close', closedView, 0),
  endAgentTurn: answeredTurn('nothing', view, 0),
  listEvents: {
    data: EVENT_NAMES.map((name) => ({
      name,
      description: EVENT_DESCRIPTIONS[name],
      sample: payloadExample(name),
    })),
    next_cursor: null,
  },
  getSample: payloadExample('message.received'),
  createSubscription: { ...subscriptionJson(subscription), secret },
  listSubscriptions: list(subscriptionJson(subscription)),
  updateSubscription: subscriptionJson(subscription),
  deleteSubscription: { id: subscription.id, deleted: true },
  listDeliveries: list(deliveryJson(delivery)),
  sendTestEvent: deliveryJson({
    ...delivery,
    status: 'pending',
    attempts: [],
    nextAttemptAt: timestamp(NOW),
  }),
  rotateSecret: {
    ...subscriptionJson(subscription),
    secret,
    previous_secret_expires_at: timestamp(new Date(NOW.getTime() + 24 * 3_600_000)),
    notice:
      'Deliveries carry a signature with the replaced secret too, until the time given. Give the new secret to the receiver before then.',
  },
  revokePreviousSecrets: { ...subscriptionJson(subscription), revoked: 1 },
  redeliver: deliveryJson({ ...delivery, status: 'pending', nextAttemptAt: timestamp(NOW) }),
  recoverDeliveries: { redelivered: 3 },
  lookupContact: conversationJson(view),
  listContacts: list(contactJson(contactView)),
  getContact: revealedContactJson(contactView),
  listConversations: list(conversationJson(view)),
  getConversation: conversationWithMessagesJson({ ...view, messages: [received] }),
  sendMessage: {
    message: messageJson(sent, view.contact),
    conversation: conversationJson(sampleView('message.sent', WORKSPACE, NOW)),
  },
  listMessages: list(messageJson(received, view.contact)),
  writeNote: noteJson({
    ...view,
    note: {
      ...newSystemNote(
        view.conversation,
        { type: 'team_note', text: 'Wants the invoice in the name of the company.' },
        { type: 'api', name: 'n8n' },
        NOW,
      ),
      id: `note_${ID}`,
    },
  }),
  takeOverConversation: conversationJson(sampleView('conversation.handed_over', WORKSPACE, NOW)),
  handBackConversation: conversationJson(view),
  closeConversation: conversationJson(closedView),
  updateConversation: conversationJson(view),
  assignConversation: conversationJson({
    ...view,
    conversation: { ...view.conversation, assignee },
  }),
  listMembers: list({ ...assignee, created_at: timestamp(NOW) }),
  createPaymentLink: linkExample,
  listPaymentLinks: list(linkExample),
  getPaymentLink: linkExample,
  cancelPaymentLink: { ...linkExample, status: 'cancelled' },
  markPaymentPaid: {
    ...linkExample,
    status: 'paid',
    provider: 'manual',
    provider_reference: 'Transfer 2026-1182',
    paid_at: timestamp(NOW),
  },
  listPaymentAccounts: list(accountExample),
  putPaymentAccount: accountExample,
  deletePaymentAccount: { id: 'stripe', deleted: true },
  testPaymentAccount: connectionExample,
  createChannel: channelExample,
  listChannels: list(channelExample),
  getChannel: channelExample,
  updateChannel: channelExample,
  deleteChannel: { id: channel.id, deleted: true },
  testChannel: connectionExample,
  startChatSession: { token: 'cst_…', contact_id: view.contact.id },
  sendChatMessage: { conversation_id: view.conversation.id, message_id: received.id },
  listChatMessages: list(chatMessageJson(received)),
  streamChatMessages: `id: ${received.id}\nevent: message\ndata: ${JSON.stringify(chatMessageJson(received))}\n\n`,
};
