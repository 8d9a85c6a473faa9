// The thread that hashes passwords, one after the other.
import { hashSync, verifySync } from '@node-rs/argon2';
import { answerOrders } from './threadScript.ts';

/** Hashes the password, or compares it with a hash. Null: there is no member to compare it with. */
export interface PasswordOrder {
  readonly password: string;
  readonly passwordHash?: string | null;
}

/** Compared with where there is no member, so that the answer takes as long. */
const nobody = hashSync(`${Math.random()}`);

answerOrders(({ password, passwordHash }: PasswordOrder): string | boolean => {
  if (passwordHash === undefined) return hashSync(password);
  return verifySync(passwordHash ?? nobody, password) && passwordHash !== null;
});
