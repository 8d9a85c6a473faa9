import type { Document } from '../store/store.ts';

/**
 * A visitor's way back to their conversations. Its id is the SHA-256 of the token; the token is
 * never kept.
 */
export interface ChatSession extends Document {
  readonly workspaceId: string;
  readonly contactId: string;
  readonly createdAt: string;
}
