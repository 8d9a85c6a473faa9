import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether two secret texts are the same; in the same time wherever they differ, and however long
 * they are.
 */
export const isSameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

const digest = (text: string) => createHash('sha256').update(text).digest();
