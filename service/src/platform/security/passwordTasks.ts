import { hashSync, verifySync, type Options } from '@node-rs/argon2';
import { answerTasks } from './threadScript.ts';

/**
 * Without `passwordHash`, the password is hashed. With it, the password is compared with that hash;
 * null means that there is no such member.
 */
export interface PasswordTask {
  readonly password: string;
  readonly passwordHash?: string | null;
}

/**
 * Called by the script of a thread that hashes passwords, one after another.
 * @param cost replaces the library's default cost, in tests
 */
export function answerPasswordTasks(cost?: Options): void {
  /** The hash to compare with when there is no member, so that the answer takes just as long. */
  const hashOfNobody = hashSync(`${Math.random()}`, cost);

  answerTasks(({ password, passwordHash }: PasswordTask): string | boolean => {
    if (passwordHash === undefined) return hashSync(password, cost);
    return verifySync(passwordHash ?? hashOfNobody, password) && passwordHash !== null;
  });
}
