import type { Document } from '../../store/store.ts';

/** Records that an API key has read a contact's phone and e-mail in the clear. Never changed. */
export interface ContactReveal extends Document {
  readonly workspaceId: string;
  readonly contactId: string;
  readonly apiKeyId: string;
  /** The name that the key had then. */
  readonly apiKeyName: string;
  readonly createdAt: string;
}
