import { paymentPayload, type Payment } from '../payments/index.ts';
import { approvalPayload, newToolCall, type ToolCall } from '../tools/index.ts';
import { timestamp } from '../platform/clock.ts';
import {
  type Contact,
  type Conversation,
  type Handover,
  type Outcome,
  type Message,
  eventPayload,
  type EventDetail,
} from '../conversations/index.ts';
import {
  type EventName,
  type Delivery,
  queueDelivery,
  peekSubscription,
} from '../deliveries/index.ts';
import type { Deps } from '../platform/deps.ts';
import { newId } from '../platform/ids.ts';
import type { Workspace } from '../team/index.ts';

/** The part of an ID that all samples share, so that nobody takes one for real. */
const SAMPLE_ID = '00000000000000000000SAMPLE';

/** A sample payload of an event: the code that makes real payloads makes it from a sample conversation. */
export function samplePayload(
  event: EventName,
  workspace: Workspace,
  now: Date,
): Record<string, unknown> {
  const detail = sampleDetail(event, workspace, now);
  return eventPayload(`evt_${SAMPLE_ID}`, detail, sampleView(event, workspace, now), now);
}

/** The sample conversation, with its workspace and contact. */
export const sampleView = (event: EventName, workspace: Workspace, now: Date) => ({
  workspace,
  contact: sampleContact(workspace, now),
  conversation: sampleConversation(event, workspace, now),
});

function sampleDetail(event: EventName, workspace: Workspace, now: Date): EventDetail {
  switch (event) {
    case 'conversation.opened':
      return { name: event };
    case 'conversation.qualified':
      return { name: event, previousStage: 'engaged' };
    case 'conversation.handed_over':
      return { name: event, handover: sampleHandover(now) };
    case 'conversation.awaiting_human':
      return { name: event, handover: sampleAgentHandover(now) };
    case 'conversation.closed':
      return { name: event, outcome: sampleOutcome(now) };
    case 'message.received':
    case 'message.sent':
      return { name: event, message: sampleMessage(event, workspace, now) };
    case 'payment.paid':
      return {
        name: event,
        payment: paymentPayload(samplePayment(workspace, now), sampleContact(workspace, now)),
      };
    case 'approval.requested':
    case 'approval.decided':
      return {
        name: event,
        approval: approvalPayload(sampleCall(event, workspace, now), sampleContact(workspace, now)),
      };
  }
}

const sampleContact = (workspace: Workspace, now: Date): Contact => ({
  id: `ctc_${SAMPLE_ID}`,
  workspaceId: workspace.id,
  channel: 'whatsapp_cloud',
  channelAccount: '100000000000001',
  channelUserId: null,
  lastWroteAt: timestamp(now),
  name: 'María Sample',
  phone: '5491155550134',
  email: 'maria@example.com',
  verified: true,
  createdAt: timestamp(now),
});

const sampleConversation = (event: EventName, workspace: Workspace, now: Date): Conversation => ({
  id: `conv_${SAMPLE_ID}`,
  workspaceId: workspace.id,
  contactId: `ctc_${SAMPLE_ID}`,
  channel: 'whatsapp_cloud',
  status: sampleStatus(event),
  funnelStage:
    event === 'conversation.opened' ? 'new' : event === 'payment.paid' ? 'customer' : 'qualified',
  messageCount: event === 'conversation.opened' ? 1 : 6,
  customerMessageCount: event === 'conversation.opened' ? 1 : 3,
  controlEpoch: 0,
  pendingApprovals: 0,
  handover: null,
  outcome: event === 'conversation.closed' ? sampleOutcome(now) : null,
  qualifiedAt: event === 'conversation.opened' ? null : timestamp(now),
  previousConversationId: null,
  createdAt: timestamp(now),
  updatedAt: timestamp(now),
  closedAt: event === 'conversation.closed' ? timestamp(now) : null,
});

function sampleStatus(event: EventName): Conversation['status'] {
  if (event === 'conversation.closed') return 'closed';
  if (event === 'conversation.awaiting_human') return 'awaiting_human';
  return event === 'conversation.handed_over' || event === 'message.sent'
    ? 'human_active'
    : 'ai_active';
}

const sampleHandover = (now: Date): Handover => ({
  reason: 'team_takeover',
  note: null,
  triggeredBy: { type: 'team_member', name: 'Ana' },
  at: timestamp(now),
});

const sampleAgentHandover = (now: Date): Handover => ({
  reason: 'customer_request',
  note: null,
  triggeredBy: { type: 'agent', name: 'Agent' },
  at: timestamp(now),
});

/** A tool call that waits for approval, or was approved. */
function sampleCall(
  event: 'approval.requested' | 'approval.decided',
  workspace: Workspace,
  now: Date,
): ToolCall {
  const waiting: ToolCall = {
    ...newToolCall(
      {
        workspaceId: workspace.id,
        toolId: `tool_${SAMPLE_ID}`,
        tool: 'cancel_order',
        kind: 'Webhook',
        arguments: { order_number: 'A-1042' },
        conversationId: `conv_${SAMPLE_ID}`,
        purpose: 'agent',
        definitionHash: '',
        stepId: null,
        controlEpoch: 0,
        afterMessage: 6,
        isTold: false,
      },
      now,
    ),
    id: `call_${SAMPLE_ID}`,
    status: 'pending_approval',
    neededApproval: true,
    expiresAt: timestamp(new Date(now.getTime() + 24 * 3_600_000)),
  };
  if (event === 'approval.requested') return waiting;
  const by = { type: 'team_member', name: 'Ana' } as const;
  const decision = { approved: true, by, note: null, at: timestamp(now) };
  return { ...waiting, status: 'running', decision, expiresAt: null };
}

const sampleOutcome = (now: Date): Outcome => ({
  verdict: 'goal_reached',
  summary: 'The customer booked the demo for Tuesday.',
  closedBy: { type: 'team_member', name: 'Ana' },
  closedAt: timestamp(now),
});

export function sampleMessage(
  event: 'message.received' | 'message.sent',
  workspace: Workspace,
  now: Date,
): Message {
  const inbound = event === 'message.received';
  return {
    id: `msg_${SAMPLE_ID}`,
    workspaceId: workspace.id,
    conversationId: `conv_${SAMPLE_ID}`,
    contactId: `ctc_${SAMPLE_ID}`,
    number: 6,
    direction: inbound ? 'inbound' : 'outbound',
    sender: inbound
      ? { type: 'customer', name: 'María Sample' }
      : { type: 'team_member', name: 'Ana' },
    text: inbound ? 'Do you have time on Tuesday?' : 'Tuesday at ten it is.',
    channelMessageId: inbound ? 'wamid.SAMPLE' : null,
    delivery: inbound ? null : { state: 'sent', error: null },
    createdAt: timestamp(now),
  };
}

export const samplePayment = (workspace: Workspace, now: Date): Payment => ({
  id: `pay_${SAMPLE_ID}`,
  workspaceId: workspace.id,
  conversationId: `conv_${SAMPLE_ID}`,
  contactId: `ctc_${SAMPLE_ID}`,
  afterMessage: 6,
  status: 'paid',
  amount: 4900,
  currency: 'usd',
  description: 'Demo, one hour',
  provider: 'stripe',
  providerReference: 'cs_test_sample',
  providerUrl: null,
  pageTokenHash: '',
  sealedPageToken: '',
  error: null,
  createdBy: { type: 'team_member', name: 'Ana' },
  expiresAt: timestamp(now),
  paidAt: timestamp(now),
  markedPaidBy: null,
  work: null,
  checkedAt: null,
  createdAt: timestamp(now),
  updatedAt: timestamp(now),
});

/**
 * Queues a sample of the subscription's first event, to be signed and delivered like a real one.
 * @returns the pending delivery
 * @throws not_found (404)
 */
export const sendTestEvent = (
  { store, clock }: Deps,
  workspace: Workspace,
  subscriptionId: string,
) =>
  store.transaction(async (tx): Promise<Delivery> => {
    const now = clock.now();
    const subscription = await peekSubscription(tx, workspace, subscriptionId);
    const id = newId('evt');
    const event = {
      id,
      workspaceId: workspace.id,
      name: subscription.event,
      conversationId: null,
      body: JSON.stringify({ ...samplePayload(subscription.event, workspace, now), id }),
      createdAt: timestamp(now),
    };
    await tx.events.put(event);
    return queueDelivery(tx, event, subscription.id, now, 'manual');
  });
