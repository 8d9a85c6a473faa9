import { collection, type Document } from '../store/store.ts';

/**
 * The first answer to a write that carried an Idempotency-Key, or to a form that is run once. Id: a
 * hash of what identifies the write (answerOnce.ts, formOnce.ts).
 */
export interface IdempotentAnswer extends Document {
  readonly requestHash: string;
  readonly status: number;
  /** Sealed, since it may hold secrets such as the URL of a payment link. */
  readonly sealedBody: string;
  readonly kind: 'idempotent_answer';
  /** Missing when the write belonged to no workspace, or when an earlier version answered it. */
  readonly workspaceId?: string;
  readonly expiresAt: string;
}

/**
 * What the service keeps about itself, one document for each fact: the encryption key's
 * fingerprint, the owner, the setup links, the address of n8n, how far a sweep has come. Only the
 * fingerprint has the fields about sealing.
 */
export interface Setting extends Document {
  readonly value: string;
  /** The version of the list of sealed fields. */
  readonly sealingVersion?: number;
  /** True when everything was sealed again, but the earlier contents are still on the disk. */
  readonly hasHistory?: boolean;
}

declare module '../store/collections.ts' {
  interface Collections {
    settings: Setting;
    idempotentAnswers: IdempotentAnswer;
  }
}

export const platformCollections = {
  settings: collection<Setting>({ indexes: [] }),
  idempotentAnswers: collection<IdempotentAnswer>({
    indexes: [{ on: ['kind'], orderBy: 'expiresAt' }],
  }),
};
