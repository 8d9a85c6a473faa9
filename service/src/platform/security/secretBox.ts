import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
} from 'node:crypto';
import { hashToken } from './tokens.ts';

/** Encrypts secrets before they reach the store, so that its files hold none in the clear. */
export interface SecretBox {
  seal(secret: string): string;
  /** @throws Error when the secret was sealed with another key, or altered since */
  open(sealed: string): string;
  /** Identifies the key without revealing it. */
  readonly fingerprint: string;
}

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What `open` returns; null when the secret was sealed with another key, or altered since. */
export function openOrNull(box: SecretBox, sealed: string): string | null {
  try {
    return box.open(sealed);
  } catch {
    return null;
  }
}

/** Whether a sealed secret, once opened, has this hash. */
export function hasSecretHash(box: SecretBox, sealed: string, hash: string | null): boolean {
  const secret = openOrNull(box, sealed);
  return secret !== null && hashToken(secret) === hash;
}

/**
 * Seals with AES-256-GCM. The sealed form is `v1.` and the base64url of nonce, tag and ciphertext.
 * @param keyBytes 32 bytes
 */
export function createSecretBox(keyBytes: Buffer): SecretBox {
  // With a Buffer, Node would check the key at each use, which costs more than deciphering.
  const key = createSecretKey(keyBytes);
  return {
    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
    },
    open(sealed) {
      const [version, text] = sealed.split('.');
      if (version !== VERSION || !text)
        throw new Error('This is not a sealed secret of a known version.');
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return (
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') +
        decipher.final('utf8')
      );
    },
    fingerprint: createHash('sha256')
      .update('conversation-service encryption key\n')
      .update(keyBytes)
      .digest('hex')
      .slice(0, 16),
  };
}
