import { AGENT_QUEUE } from './agentTurn.ts';
import { DELIVERY_QUEUE } from './delivery.ts';
import { HOUSEKEEPING_QUEUE } from './housekeepingJob.ts';
import { PAYMENT_QUEUE } from './payment.ts';
import { OUTBOUND_QUEUE } from './outboundMessage.ts';
import { REMOVAL_QUEUE } from './subscription.ts';
import { TOOL_CALL_QUEUE } from './toolCall.ts';

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
