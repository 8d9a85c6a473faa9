import { AGENT_QUEUE } from '../agent/agentSettings.ts';
import { DELIVERY_QUEUE } from '../deliveries/delivery.ts';
import { OUTBOUND_QUEUE } from '../channels/outbound/outboundMessage.ts';
import { PAYMENT_QUEUE } from '../payments/payment.ts';
import { FOLLOW_UP_QUEUE } from '../deliveries/subscription.ts';
import { TOOL_CALL_QUEUE } from '../tools/calls/toolCall.ts';
import { HOUSEKEEPING_QUEUE } from './retention/housekeeping.ts';

/** Every queue that work is put into. */
export const WORK_QUEUES: readonly string[] = [
  DELIVERY_QUEUE,
  FOLLOW_UP_QUEUE,
  TOOL_CALL_QUEUE,
  OUTBOUND_QUEUE,
  PAYMENT_QUEUE,
  AGENT_QUEUE,
  HOUSEKEEPING_QUEUE,
];
