import type { Document } from '../../store/store.ts';

/** Lets a visitor return to their conversations. Its id is the SHA-256 of the token. */
export interface ChatSession extends Document {
  readonly workspaceId: string;
  readonly contactId: string;
  readonly createdAt: string;
}
