import type { Document } from '../store/store.ts';
import type { EventFacts } from './filter.ts';

/** An immutable fact, stored with the bytes that every attempt sends. */
export interface Event extends Document {
  readonly workspaceId: string;
  readonly name: EventName;
  /** Null for a sample sent as a test. */
  readonly conversationId: string | null;
  /** Absent in samples, and in events of earlier versions. */
  readonly contactId?: string;
  /** The JSON body, made once: the same for every subscription and attempt. */
  readonly body: string;
  /** What filters look at. Absent in samples, and in events of earlier versions. */
  readonly facts?: EventFacts;
  readonly createdAt: string;
}

export const EVENT_DESCRIPTIONS = {
  'conversation.opened': 'A new conversation starts on any channel',
  'conversation.qualified': 'The conversation reaches Qualified or beyond for the first time',
  'conversation.handed_over': 'A person took over',
  'conversation.closed': 'The conversation was closed, by a person or by the agent',
  'message.received': 'The customer wrote',
  'message.sent': 'The agent or a team member replied',
  'payment.paid': 'A payment link created in the conversation was paid',
  'conversation.awaiting_human': 'The agent handed over, and a person is needed',
  'approval.requested': 'A tool call of the agent waits for approval',
  'approval.decided': 'A waiting approval was approved or rejected, or ended without a decision',
} as const;

export type EventName = keyof typeof EVENT_DESCRIPTIONS;
export const EVENT_NAMES = Object.keys(EVENT_DESCRIPTIONS) as EventName[];

/** Events that are not part of the core interface. */
export const EXTENSION_EVENTS: ReadonlySet<EventName> = new Set<EventName>([
  'conversation.awaiting_human',
  'approval.requested',
  'approval.decided',
]);

export const isEventName = (name: string): name is EventName =>
  Object.hasOwn(EVENT_DESCRIPTIONS, name);
