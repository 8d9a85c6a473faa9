import { AGENT_QUEUE } from '../agent/agentSettings.ts';
import { WEBHOOK_TURN_QUEUE } from '../agent/webhook/webhookTurn.ts';
import { DELIVERY_QUEUE } from '../deliveries/delivery.ts';
import { OUTBOUND_QUEUE, TYPING_QUEUE } from '../channels/outbound/outboundMessage.ts';
import { PAYMENT_QUEUE } from '../payments/payment.ts';
import { FOLLOW_UP_QUEUE } from '../deliveries/subscription.ts';
import { TOOL_CALL_QUEUE } from '../tools/calls/toolCall.ts';
import { WAIT_QUEUE } from '../waits/wait.ts';
import { FORGETTING_QUEUE } from '../conversations/contact.ts';

/** The queue of the clean-up. It always holds one job, which says when the next sweep is due. */
export const HOUSEKEEPING_QUEUE = 'housekeeping';

/**
 * Every queue that work is put into. The command line imports these names, so this module imports
 * only small files and none of the workers.
 */
export const WORK_QUEUES: readonly string[] = [
  DELIVERY_QUEUE,
  FOLLOW_UP_QUEUE,
  TOOL_CALL_QUEUE,
  OUTBOUND_QUEUE,
  TYPING_QUEUE,
  PAYMENT_QUEUE,
  WAIT_QUEUE,
  AGENT_QUEUE,
  WEBHOOK_TURN_QUEUE,
  HOUSEKEEPING_QUEUE,
  FORGETTING_QUEUE,
];
