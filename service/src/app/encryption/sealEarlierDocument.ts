import type { Tool } from '../../tools/tool.ts';
import type { SecretBox } from '../../platform/security/secretBox.ts';
import { hashToken } from '../../platform/security/tokens.ts';
import type { Document } from '../../store/store.ts';
import { sealBareKeys } from './sealBareKeys.ts';

/**
 * Raised whenever more fields are sealed than before. The first start of that version then seals what
 * earlier versions wrote.
 */
export const SEALING_VERSION = 3;

/**
 * Seals or removes what an earlier version kept in the clear.
 * @returns the same object when there is nothing to change
 */
export function sealEarlierDocument(
  document: Document,
  collection: string,
  box: SecretBox,
): Document {
  if (collection === 'tools') return sealBareKeys(document as Tool, box);
  const { seal } = box;
  const { pageToken, body, csrfToken, ...rest } = document as Document & {
    pageToken?: string;
    body?: string;
    csrfToken?: string;
  };
  if (collection === 'payments' && pageToken !== undefined)
    return {
      ...rest,
      pageTokenHash: hashToken(pageToken),
      sealedPageToken: seal(pageToken),
    } as Document;
  if (collection === 'idempotentAnswers' && body !== undefined)
    return { ...rest, sealedBody: seal(body) } as Document;
  if (collection === 'sessions' && csrfToken !== undefined) return rest;
  return document;
}
