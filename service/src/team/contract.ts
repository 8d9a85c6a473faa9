import { z } from 'zod';
import { operationsOf } from '../platform/http/operation.ts';
import { listOf, pageQuerySchema, timestampSchema } from '../platform/http/schemas.ts';

const operation = operationsOf({ tag: 'Conversations', auth: 'key', extension: true });

export const listMembers = operation('GET /members', {
  summary: 'List the members of the team, newest first',
  description: 'Conversations are assigned to members.',
  query: pageQuerySchema,
  answer: listOf(
    z
      .strictObject({ id: z.string(), name: z.string(), created_at: timestampSchema })
      .meta({ id: 'Member' }),
  ),
});
