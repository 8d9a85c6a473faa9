import { z } from 'zod';
import { timestampSchema } from '../http/schemas.ts';

/** What channels and payment providers share: their settings, and the test of a connection. */

export const settingsSchema = z
  .record(
    z.string().max(64),
    z.string('must be a string').max(8192, 'must have at most 8192 characters'),
    'must be an object of strings',
  )
  .describe('Values by field name. An empty string removes a value.');

export const connectionTestSchema = z
  .strictObject({
    ok: z.boolean(),
    message: z.string().describe('What was reached, or what is wrong and what to do'),
    at: timestampSchema,
  })
  .meta({ id: 'ConnectionTest' });

/** The settings as the API shows them. */
export const shownSettings = {
  settings: z
    .record(z.string(), z.string())
    .describe('The values that are not secret, by field name'),
  secrets_set: z
    .array(z.string())
    .describe('The names of the secrets that are set. Their values are never returned.'),
};
