import { createHash, randomBytes, randomInt } from 'node:crypto';

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
/** Stands in the address of a payment's page: 192 bits. */
export const newPageToken = (): string => randomBytes(24).toString('base64url');
export const newSetupToken = (): string => randomBytes(24).toString('base64url');
/** A `generated` value of a set-up form, such as a webhook's verify token. */
export const newSetupValue = (): string => randomBytes(24).toString('base64url');

/**
 * Follows from a session's token, so that it need not be kept; the session's id, which is kept,
 * tells neither.
 */
export const csrfTokenOf = (sessionToken: string): string =>
  createHash('sha256').update(`csrf ${sessionToken}`).digest('base64url');

/** Names one form that a page shows, so that it counts once. */
export const newFormToken = (): string => randomBytes(18).toString('base64url');

/**
 * What is kept of a random token. Keys and tokens are long and random, so that a plain hash
 * suffices.
 */
export const hashToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex');
