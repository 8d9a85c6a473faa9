import { AGENT_QUEUE } from './domain/agentSettings.ts';
import { DELIVERY_QUEUE } from './domain/delivery.ts';
import { OUTBOUND_QUEUE } from './domain/outboundMessage.ts';
import { PAYMENT_QUEUE } from './domain/payment.ts';
import { REMOVAL_QUEUE } from './domain/subscription.ts';
import { TOOL_CALL_QUEUE } from './domain/toolCall.ts';
import { HOUSEKEEPING_QUEUE } from './housekeeping.ts';

/** Every queue that work is put into. */
export const WORK_QUEUES: readonly string[] = [
  DELIVERY_QUEUE,
  REMOVAL_QUEUE,
  TOOL_CALL_QUEUE,
  OUTBOUND_QUEUE,
  PAYMENT_QUEUE,
  AGENT_QUEUE,
  HOUSEKEEPING_QUEUE,
];
