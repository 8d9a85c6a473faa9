// The script of a thread that hashes passwords, one after another.
import { hashSync, verifySync } from '@node-rs/argon2';
import { answerTasks } from './threadScript.ts';

/**
 * Without `passwordHash`, the password is hashed. Otherwise it is compared with that hash; null means
 * that there is no such member.
 */
export interface PasswordTask {
  readonly password: string;
  readonly passwordHash?: string | null;
}

/** Compared with when there is no member, so that the answer takes just as long. */
const HASH_OF_NOBODY = hashSync(`${Math.random()}`);

answerTasks(({ password, passwordHash }: PasswordTask): string | boolean => {
  if (passwordHash === undefined) return hashSync(password);
  return verifySync(passwordHash ?? HASH_OF_NOBODY, password) && passwordHash !== null;
});
