import { z } from 'zod';
import { timestampSchema } from './shared.ts';

/**
 * What channels and payment providers have in common: what a team fills in, and whether it works.
 */

export const settingsSchema = z
  .record(
    z.string().max(64),
    z.string('must be a text').max(8192, 'must have at most 8192 characters'),
    'must be an object of texts',
  )
  .meta({ description: 'By field name; an empty text takes a value away' });

export const connectionTestSchema = z
  .strictObject({
    ok: z.boolean(),
    message: z.string().meta({ description: 'What was reached, or what is wrong and what to do' }),
    at: timestampSchema,
  })
  .meta({ id: 'ConnectionTest' });

/** What is shown of what was filled in. */
export const shownSettings = {
  settings: z.record(z.string(), z.string()).meta({ description: 'What is not secret' }),
  secrets_set: z.array(z.string()).meta({
    description: 'The names of the secrets that are filled in; their values are never shown',
  }),
};
