import { z } from 'zod';
import { operationsOf } from '../../platform/http/operation.ts';
import { listOf, oneOf, pageQuerySchema, timestampSchema } from '../../platform/http/schemas.ts';
import { CHANNEL_TYPES } from '../contact.ts';

const MAX_SEARCH_CHARACTERS = 200;
/** What a caller searches contacts by. */
export const contactSearchSchema = z
  .string()
  .max(MAX_SEARCH_CHARACTERS, `must have at most ${MAX_SEARCH_CHARACTERS} characters`)
  .describe(
    'A whole phone number with its country code, a whole e-mail, or a part of the name or, with a `•` in it, of a masked detail',
  );

const contactFields = {
  id: z.string(),
  name: z.string().nullable(),
  phone_masked: z.string().nullable(),
  email_masked: z.string().nullable(),
  channel: oneOf(CHANNEL_TYPES),
  channel_account: z
    .string()
    .nullable()
    .describe('The account that the contact wrote to; null in the web chat'),
  verified: z
    .boolean()
    .describe(
      'Whether the channel knows the phone or e-mail. A visitor of the chat only claims it.',
    ),
  last_conversation_id: z.string().nullable().describe('The newest conversation of the contact'),
  created_at: timestampSchema,
};
const contactSchema = z.strictObject(contactFields).meta({ id: 'Contact' });

const operation = operationsOf({ tag: 'Conversations', auth: 'key', extension: true });

export const listContacts = operation('GET /contacts', {
  summary: 'List contacts, newest first',
  description:
    'Phone and e-mail are masked. With a whole phone number or e-mail as `q`, contacts that their channel verified come before those that only entered it. A page may have fewer items than `limit`, or none, although more follow: go by `next_cursor`.',
  query: pageQuerySchema.extend({ q: contactSearchSchema.optional() }),
  answer: listOf(contactSchema),
});

export const getContact = operation('GET /contacts/:id', {
  summary: 'Get a contact',
  description:
    'Phone and e-mail are masked. With `?reveal=true` the answer has `phone` and `email` in the clear, and the name as it was given. The API key needs the permission `contacts:reveal`, and each such call is recorded with the key.',
  query: z.object({
    reveal: oneOf(['true', 'false'])
      .optional()
      .describe('Whether to show the details in the clear'),
  }),
  answer: z
    .strictObject({
      ...contactFields,
      phone: z
        .string()
        .nullable()
        .optional()
        .meta({ description: 'Only with `reveal`', example: '+5491155550134' }),
      email: z.string().nullable().optional().describe('Only with `reveal`'),
    })
    .meta({ id: 'ContactDetails' }),
  errors: ['not_found', 'permission_missing'],
});
