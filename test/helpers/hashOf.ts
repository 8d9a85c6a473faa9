import { unwatchedBounds } from '../../service/src/platform/limits/bounds.ts';
import { PasswordThreads } from '../../service/src/platform/security/passwords.ts';

/** What is stored of a password, for members that are made without a service. */
export async function hashOf(password: string): Promise<string> {
  const threads = new PasswordThreads({ bounds: unwatchedBounds, log: console });
  try {
    return await threads.hash(password);
  } finally {
    await threads.close();
  }
}
