/** Rules for the headers of a request template. */

/** A token, as HTTP defines it. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/** What a header's value may hold; HTTP would also allow a tab. */
export const HEADER_TEXT = /^[\x20-\x7e\xa0-\xff]*$/;

/** A template cannot set these: the HTTP client does, or they concern only a single connection. */
export const FIXED_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'accept-encoding',
]);

/**
 * Headers whose value is a credential. A list instead of a pattern, because `X-Atlassian-Token:
 * no-check`, `X-CSRF-Token: Fetch` and `Idempotency-Key` sound like credentials and are not.
 */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-authorization',
  'x-api-key',
  'api-key',
  'apikey',
  'x-apikey',
  'x-api-secret',
  'x-api-token',
  'api-token',
  'x-auth-token',
  'x-auth-key',
  'x-access-token',
  'x-token',
  'private-token',
  'x-goog-api-key',
  'x-rapidapi-key',
  'x-functions-key',
  'ocp-apim-subscription-key',
  'x-shopify-access-token',
  'x-vault-token',
  'x-figma-token',
  'dd-api-key',
  'dd-application-key',
]);

/**
 * Whether a header of a template holds a key in plain text, which would be stored and shown with the
 * template.
 */
export const holdsBareKey = (name: string, text: string): boolean =>
  CREDENTIAL_HEADERS.has(name.toLowerCase()) && text.trim() !== '' && !text.includes('{{');

/** Whether headers say that the body is a form. Without a content type it is JSON. */
export const sendsForm = (headers: Readonly<Record<string, string>>): boolean =>
  Object.entries(headers).some(
    ([name, text]) =>
      name.toLowerCase() === 'content-type' &&
      /^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(text),
  );
