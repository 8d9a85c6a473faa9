import { mapStrings, type Json } from '../domain/json.ts';
import type { ToolAttemptResult } from '../domain/toolCall.ts';
import { readAnswer, type Answer } from './readAnswer.ts';
import { scrubber } from './scrubber.ts';
import type { ToolAddress } from './toolRequest.ts';

/** An answer to read, and the address it came from. Plain data, since it goes to a thread. */
export interface AnswerOrder {
  readonly address: ToolAddress;
  readonly response: Answer;
}

/**
 * The secrets that must not be shown. For a signing secret, the part after `whsec_` too: it is the key
 * of the Standard Webhooks signature.
 */
const secretsOf = (address: ToolAddress): readonly string[] =>
  address.kind === 'Webhook'
    ? [address.secret, address.secret.replace(/^whsec_/, '')]
    : Object.values(address.secrets);

/**
 * Takes a tool's secrets out of a text, and replaces what cannot be stored: half characters and
 * NUL.
 */
export function cleaner(address: ToolAddress): (text: string) => string {
  const withoutSecrets = scrubber(secretsOf(address));
  return (text) => withoutSecrets(text).toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * Judges and reads an answer. An endpoint may echo what it was sent, so secrets are cut out of what
 * is stored or shown.
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
