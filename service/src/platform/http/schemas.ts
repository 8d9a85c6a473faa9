import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode } from './errorCatalogue.ts';
import { holdsInfinity, type JsonObject } from '../json.ts';

/** Schemas that several endpoints use. */

export const timestampSchema = z.iso
  .datetime({ offset: true })
  .refine((text) => !text.endsWith('Z'), 'must carry a numeric offset')
  .meta({
    description: 'An ISO 8601 time with a numeric offset',
    example: '2026-11-21T10:00:00.000+00:00',
  });

/** A time in a query, with any offset. A `+` that was not escaped arrives as a space. */
export const instantSchema = z
  .string('must be a string')
  .transform((text) => text.replace(' ', '+'))
  .pipe(
    z.iso.datetime({
      offset: true,
      error: 'must be an ISO 8601 time with offset, such as 2026-11-21T10:00:00Z',
    }),
  )
  .meta({ example: '2026-11-21T10:00:00Z' });

export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, `must be one of ${words.join(', ')}`);

export const booleanSchema = z.boolean('must be true or false');

/** How many items a query asks for. */
export const countSchema = (min: number, max: number) =>
  z.coerce
    .number(`must be a number from ${min} to ${max}`)
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be from ${min} to ${max}`)
    .max(max, `must be from ${min} to ${max}`)
    .default(50);

export const revisionSchema = z.coerce
  .number('must be a number')
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .optional();

export const pageQuerySchema = z.object({
  limit: countSchema(1, 200).meta({
    description:
      'The maximum number of items. A page of very large items has fewer; `next_cursor` says whether there are more.',
    example: 50,
  }),
  cursor: z.string().optional().describe('The `next_cursor` of the previous page'),
});

/** The shape of every list. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().meta({
      description: 'Send it as `cursor` to get the next page. Null on the last page.',
      example: null,
    }),
  });

export const deletedSchema = z.strictObject({ id: z.string(), deleted: z.literal(true) });

/** What can be wrong with a URL that the service would call. */
export const ADDRESS_ERRORS = [
  'target_url_invalid',
  'target_url_not_https',
  'target_url_not_public',
  'target_url_unresolvable',
] as const;

export const errorSchema = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(ERROR_CATALOGUE) as ErrorCode[]),
      message: z.string().describe('What happened and what to do'),
      param: z.string().optional().describe('The path of the wrong field'),
      existing_id: z
        .string()
        .optional()
        .describe('The id of the record that is in the way, where there is one'),
      request_id: z.string().meta({
        description: 'The same as in the X-Request-Id header',
        example: 'req_01JD6Z0000000000000000000A',
      }),
    }),
  })
  .meta({ id: 'Error' });

/** Text without unpaired surrogates and without NUL. */
export const textSchema = (max: number) =>
  z
    .string('must be a string')
    .refine((text) => text.trim() !== '', 'must not be empty')
    // A character has one or two UTF-16 units, so short texts need no counting.
    .refine(
      (text) => text.length <= max || [...text].length <= max,
      `must have at most ${max} characters`,
    )
    .refine(
      (text) => text.isWellFormed() && !text.includes('\0'),
      'must be well-formed Unicode without NUL',
    )
    .meta({ minLength: 1, maxLength: max });

/** A string that `read` turns into a value. @param read returns null to refuse the string */
export const readAs = <T>(read: (text: string) => T | null, message: string) =>
  z.string('must be a string').transform((text, context) => {
    const value = read(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message, input: undefined });
    return z.NEVER;
  });

/** A JSON object with any fields; each endpoint checks the fields that it needs. */
export const jsonObjectSchema = z
  .record(z.string(), z.unknown(), 'must be an object')
  .refine((object) => !holdsInfinity(object), 'must not contain a number larger than 1.8e308')
  .transform((object) => object as JsonObject);

export const actorSchema = z.strictObject({
  type: z.enum(['agent', 'team_member', 'api']),
  name: z.string(),
});

/** What a person decided when the team was asked. */
export const decisionSchema = z.strictObject({
  approved: z.boolean(),
  by: actorSchema,
  note: z.string().nullable(),
  at: timestampSchema,
});

/** A text that need not be well-formed: an address or an id. */
export const plainTextSchema = (max: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`);

/** SHA-256 of the signing secret that a publisher holds. */
export const secretHashSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 hash in lower-case hexadecimal')
  .optional();

/** Which node of which n8n workflow publishes something. */
export const ownerIdentityFields = {
  instance_id: plainTextSchema(255).meta({ example: '5d9f1c' }),
  workflow_id: plainTextSchema(255).meta({ example: 'rXz41Hqk' }),
  node_id: plainTextSchema(255).meta({ example: '2b7c9e4a-3f0d-4c1b-9a52-0f6d8e1c7b33' }),
  host: plainTextSchema(255).meta({
    description: 'Host and port of the webhook addresses of that n8n',
    example: 'n8n.example.com',
  }),
};
export const ownerSchema = z
  .strictObject(
    { ...ownerIdentityFields, workflow_name: plainTextSchema(255).meta({ example: 'Find order' }) },
    'must be an object',
  )
  .meta({ id: 'Owner' });
