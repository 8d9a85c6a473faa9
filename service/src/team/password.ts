import { z } from 'zod';

export const MIN_PASSWORD_CHARACTERS = 10;
export const MAX_PASSWORD_CHARACTERS = 200;

export const passwordSchema = z
  .string()
  .min(MIN_PASSWORD_CHARACTERS, `must have at least ${MIN_PASSWORD_CHARACTERS} characters`)
  .max(MAX_PASSWORD_CHARACTERS, `must have at most ${MAX_PASSWORD_CHARACTERS} characters`);
