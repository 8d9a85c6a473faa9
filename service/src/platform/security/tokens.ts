import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const API_KEY_PREFIX = 'cs_live_';
export const API_KEY_PATTERN = /^cs_live_[0-9A-Za-z]{32}$/;

/** `cs_live_` and 32 base62 characters: 190 bits. */
export const newApiKey = (): string =>
  API_KEY_PREFIX + Array.from({ length: 32 }, () => BASE62[randomInt(BASE62.length)]).join('');

/** `whsec_` and the base64 of 32 bytes. */
export const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export const newChatToken = (): string => `cst_${randomBytes(32).toString('base64url')}`;
export const newSessionToken = (): string => randomBytes(32).toString('base64url');
/** Part of the address of a payment page. */
export const newPageToken = (): string => newLinkToken();
export const newSetupToken = (): string => newLinkToken();

/**
 * A token at the end of an address: 192 bits. It ends in a letter or digit, because where an address
 * in a text becomes a link, a `_` at its end is taken for the markup of the text.
 */
function newLinkToken(): string {
  for (;;) {
    const token = randomBytes(24).toString('base64url');
    if (/[0-9A-Za-z]$/.test(token)) return token;
  }
}

/** A value that the service generates for a set-up form, such as a webhook's verify token. */
export const newSetupValue = (): string => randomBytes(24).toString('base64url');

/**
 * Derives the CSRF token from the session's token, so that it need not be stored. The stored
 * session id reveals neither token.
 */
export const csrfTokenOf = (sessionToken: string): string =>
  createHash('sha256').update(`csrf ${sessionToken}`).digest('base64url');

/** Identifies one form on a page, so that sending the form twice counts once. */
export const newFormToken = (): string => randomBytes(18).toString('base64url');

/** The stored form of a token. Tokens are long and random, so a plain hash is enough. */
export const hashToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex');

/**
 * Compares two secrets. The time it takes reveals neither where they differ nor how long they are.
 */
export const isSameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

const digest = (text: string) => createHash('sha256').update(text).digest();
