import { hash } from '@node-rs/argon2';

/** Argon2id with the library's defaults (OWASP's first choice). */
export const hashPassword = (password: string): Promise<string> => hash(password);
