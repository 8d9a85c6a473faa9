import { z } from 'zod';
import { normalizePhone } from '../phoneNumber.ts';
import { readAs } from './schemas.ts';

/** A phone number as people write it, with its country code. The output is the stored form. */
export const phoneSchema = z
  .string('must be a string')
  .max(40, 'must have at most 40 characters')
  .pipe(
    readAs(
      normalizePhone,
      'must be a phone number with its country code, such as +54 9 11 5555 0134',
    ),
  );
