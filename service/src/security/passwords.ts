import { hash, verify } from '@node-rs/argon2';

/** Argon2id with the library's defaults (OWASP's first choice). */
export const hashPassword = (password: string): Promise<string> => hash(password);

/** What nobody's password gives: compared with where there is no member, so that both take the same time. */
const nobody = hash(`${Math.random()}`);

/** @param passwordHash null: there is nobody to compare with */
export const isPassword = async (password: string, passwordHash: string | null): Promise<boolean> =>
  (await verify(passwordHash ?? (await nobody), password)) && passwordHash !== null;
