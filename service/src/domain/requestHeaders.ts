/** What a request template may say in headers. */

/** A token of HTTP. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/** What a header's value may hold; HTTP would also allow a tab. */
export const HEADER_TEXT = /^[\x20-\x7e\xa0-\xff]*$/;

/** They follow from the connection, the address and the body, or end at the next server. */
export const FIXED_HEADERS: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'content-encoding', 'transfer-encoding', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'upgrade', 'expect', 'accept-encoding'],
]);

/** What stands in them opens something: a secret, never a text that is stored and shown. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token']);

/** Whether headers say that the body is a form. Without a content type it is JSON. */
export const sendsForm = (headers: Readonly<Record<string, string>>): boolean =>
  Object.entries(headers).some(([name, text]) => name.toLowerCase() === 'content-type' && /^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(text));
