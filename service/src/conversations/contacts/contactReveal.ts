import type { Document } from '../../store/store.ts';

/** One reading of a contact's phone and e-mail in the clear, through the API. Never changed. */
export interface ContactReveal extends Document {
  readonly workspaceId: string;
  readonly contactId: string;
  readonly apiKeyId: string;
  /** As it was named then. */
  readonly apiKeyName: string;
  readonly createdAt: string;
}
