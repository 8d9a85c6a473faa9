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
  noteJson,
  trackedMessageJson,
} from '../../conversations/views.ts';

import { contactJson, revealedContactJson } from '../../conversations/contacts/views.ts';
import { newSystemNote } from '../../conversations/systemNote.ts';
import { paymentAccountJson, paymentLinkJson } from '../../payments/views.ts';
import { deliveryJson, subscriptionJson } from '../../deliveries/views.ts';
import { toolCallListJson, toolJson } from '../../tools/views.ts';

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

const publishedTool: Tool = {
  ...tool,
  publication: {
    owner: {
      instanceId: '5d9f1c',
      workflowId: 'rXz41Hqk',
      workflowName: 'Find order',
      nodeId: '2b7c9e4a-3f0d-4c1b-9a52-0f6d8e1c7b33',
      host: 'n8n.example.com',
    },
    revision: 1,
  },
};

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

const view = sampleView('message.received', WORKSPACE, NOW);
const contactView = { contact: view.contact, lastConversationId: view.conversation.id };
const closedView = sampleView('conversation.closed', WORKSPACE, NOW);
const received = sampleMessage('message.received', WORKSPACE, NOW);
const sent = sampleMessage('message.sent', WORKSPACE, NOW);
const agentExample = {
  id: WORKSPACE.agentId,
  name: 'Ana',
  greeting: 'Hello from Acme!',
  instructions: '',
  languages: ['en', 'es'],
  enabled: true,
  payment_links: 'ask',
  handover_phrases: ['hablar con ventas'],
  model: 'keyword',
  updated_at: timestamp(NOW),
};
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
    id: 'pac_01JD6Z0000000000000000000A',
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
  id: 'chan_01JD6Z0000000000000000000A',
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
  getAgent: agentExample,
  updateAgent: agentExample,
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
    message: trackedMessageJson(sent, view.contact),
    conversation: conversationJson(sampleView('message.sent', WORKSPACE, NOW)),
  },
  listMessages: list(trackedMessageJson(received, view.contact)),
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
