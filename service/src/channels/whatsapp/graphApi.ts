import type { TestResult } from '../../platform/accounts/accountSetup.ts';
import type { ChannelContext, OpenAccount, OutboundText, SendResult } from '../channelAdapter.ts';
import { contentOf } from './choices.ts';
import { errorInWords, isTemporary, type GraphError } from './errorWords.ts';
import { fieldsOf, listOf, textOf, type Fields } from './fields.ts';
import { graphCall, type GraphAnswer } from './graphCall.ts';

/**
 * Sends one text, with its choices: POST /{version}/{phone_number_id}/messages. Meta returns the
 * outbound message's id with its receipts. A customer who hides their phone number is addressed by
 * user id.
 * @see developers.facebook.com, WhatsApp, "Messages" and "Business-scoped user IDs"
 */
export async function sendText(
  { outboundMessageId, text, choices, to }: OutboundText,
  { values }: OpenAccount,
  context: ChannelContext,
): Promise<SendResult> {
  const recipient = to.phone !== null ? { to: to.phone } : { recipient: to.channelUserId };
  if (to.phone === null && !to.channelUserId)
    return failed('The customer has neither a phone number nor a user ID.', { isRefused: true });
  const answer = await graphCall(
    {
      method: 'POST',
      path: `${values.phone_number_id}/messages`,
      token: values.access_token ?? '',
      body: {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        ...recipient,
        ...contentOf({ text, choices }, values),
        biz_opaque_callback_data: outboundMessageId,
      },
    },
    context,
  );
  return resultOf(answer);
}

/**
 * Shows the customer that somebody is typing, and that their message was read. The indicator ends
 * with our next message, or after 25 seconds.
 * @see developers.facebook.com, WhatsApp, "Typing indicators"
 */
export async function showTyping(
  { lastMessageId }: { readonly lastMessageId: string },
  { values }: OpenAccount,
  context: ChannelContext,
): Promise<void> {
  await graphCall(
    {
      method: 'POST',
      path: `${values.phone_number_id}/messages`,
      token: values.access_token ?? '',
      body: {
        messaging_product: 'whatsapp',
        status: 'read',
        message_id: lastMessageId,
        typing_indicator: { type: 'text' },
      },
    },
    context,
  );
}

/** Asks the Graph API for the phone number, which checks the token and the number. */
export async function testConnection(
  { values }: OpenAccount,
  context: ChannelContext,
): Promise<TestResult> {
  const id = values.phone_number_id ?? '';
  const path = `${id}?fields=display_phone_number,verified_name,quality_rating,platform_type`;
  const answer = await graphCall(
    { method: 'GET', path, token: values.access_token ?? '' },
    context,
  );
  if (answer.type === 'no_answer') return { ok: false, message: answer.error };
  const { status, json } = answer;
  if (json?.error !== undefined) {
    const error = errorOf(json);
    // The rest of the request is fixed, so only the number can be an invalid parameter.
    const isUnknown = error.code === 100 || error.code === 33;
    return {
      ok: false,
      message: isUnknown
        ? `This access token cannot use the phone number ID ${id}. Compare both with the Meta app under WhatsApp, API Setup.`
        : errorInWords(error),
    };
  }
  const number = textOf(json?.display_phone_number);
  if (status !== 200 || number === null) return { ok: false, message: unreadable(status) };
  const name = textOf(json?.verified_name);
  return {
    ok: true,
    message: `WhatsApp knows this number as ${number}${name === null ? '' : ` (${name})`}.`,
  };
}

type Failure = Extract<SendResult, { type: 'failed' }>;

/** By default the text has not arrived, and another attempt may help. */
const failed = (
  error: string,
  more: Partial<Omit<Failure, 'type' | 'error'>> = {},
): SendResult => ({
  type: 'failed',
  error,
  isRefused: false,
  retryAfterMs: null,
  mayHaveArrived: false,
  ...more,
});

function resultOf(answer: GraphAnswer): SendResult {
  if (answer.type === 'no_answer') return failed(answer.error, { mayHaveArrived: answer.wasSent });
  const { status, json, isCut, retryAfterMs } = answer;
  if (json?.error !== undefined) {
    const error = errorOf(json);
    const mayPass =
      isTemporary(error.code) ?? (isPassing(status) || fieldsOf(json.error).is_transient === true);
    return failed(errorInWords(error), { isRefused: !mayPass, retryAfterMs });
  }
  const isTaken = status >= 200 && status < 300;
  const id = textOf(fieldsOf(listOf(json?.messages)[0]).id);
  // Meta answers 200 once it has the message. If the body is cut off, a receipt brings the id.
  if (isTaken && (id !== null || isCut)) return { type: 'sent', channelMessageId: id };
  return failed(unreadable(status), {
    isRefused: !isTaken && !isPassing(status),
    retryAfterMs,
    mayHaveArrived: isTaken,
  });
}

/** Statuses after which another attempt makes sense. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

function errorOf({ error }: Fields): GraphError {
  const { code, message, error_data: data } = fieldsOf(error);
  return {
    code: typeof code === 'number' ? code : null,
    message: textOf(message),
    details: textOf(fieldsOf(data).details),
  };
}

function unreadable(status: number): string {
  if (status >= 300 && status < 400)
    return `The Graph API answered with a redirect (${status}), which is not followed. Check GRAPH_API_URL.`;
  return `The answer (${status}) is not from the Graph API. Check GRAPH_API_URL and any proxy in between.`;
}
