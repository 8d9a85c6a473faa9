import { z } from 'zod';
import { deliverySchema, eventNameSchema, eventTextSchema } from '../deliveries/contract.ts';
import { operationsOf } from '../platform/http/operation.ts';
import { listOf } from '../platform/http/schemas.ts';
import { payloadSchema } from './payloadContract.ts';

const operation = operationsOf({ tag: 'Subscriptions', auth: 'key' });

export const listEvents = operation('GET /hooks/events', {
  summary: 'List the events',
  isForEveryKey: true,
  answer: listOf(
    z.strictObject({ name: eventNameSchema, description: z.string(), sample: payloadSchema }),
  ),
});

export const getSample = operation('GET /hooks/sample', {
  summary: 'Get a sample payload of an event',
  isForEveryKey: true,
  query: z.object({ event: eventTextSchema }),
  answer: payloadSchema,
  errors: ['unknown_event'],
});

export const sendTestEvent = operation('POST /hooks/:id/test', {
  addsToStore: 'data',
  summary: 'Send a test event, signed and delivered like a real one',
  extension: true,
  status: 201,
  answer: deliverySchema,
  errors: ['not_found'],
});
