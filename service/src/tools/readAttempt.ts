import { mapStrings, type Json } from '../domain/json.ts';
import type { ToolAttemptResult } from '../domain/toolCall.ts';
import type { OutboundResponse } from '../outbound/outboundClient.ts';
import { readAnswer } from './readAnswer.ts';
import { scrubber } from './scrubber.ts';
import type { ToolAddress } from './toolRequest.ts';

/** An answer to be read, and what was called. Plain data, since it goes to a thread. */
export interface AnswerOrder {
  readonly address: ToolAddress;
  readonly response: Pick<OutboundResponse, 'status' | 'durationMs' | 'headers'> & {
    readonly body: Uint8Array;
  };
}

/** For a signing secret, also the part that is the key of the Standard Webhooks signature. */
const secretsOf = (address: ToolAddress): readonly string[] =>
  address.kind === 'Webhook'
    ? [address.secret, address.secret.replace(/^whsec_/, '')]
    : Object.values(address.secrets);

/**
 * Removes a tool's secrets from a text, and half characters and NUL, which cannot be stored or shown
 * everywhere.
 */
export function cleaner(address: ToolAddress): (text: string) => string {
  const withoutSecrets = scrubber(secretsOf(address));
  return (text) => withoutSecrets(text).toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * Reads an answer. An endpoint may echo what it was sent, so the tool's secrets are removed from
 * the result.
 */
export function readAttempt({ address, response }: AnswerOrder): ToolAttemptResult {
  const clean = cleaner(address);
  const secrets = secretsOf(address);
  const cleanNumber = (number: number): Json =>
    secrets.includes(String(number)) ? clean(String(number)) : number;
  const result = readAnswer(address, response, clean, (json) =>
    JSON.stringify(mapStrings(json, clean, cleanNumber)),
  );
  if (result.type === 'success') return result;
  return { ...result, error: { ...result.error, message: clean(result.error.message) } };
}
