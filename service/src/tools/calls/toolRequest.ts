import type { JsonObject } from '../../platform/json.ts';
import { renderRequest } from '../definition/renderRequest.ts';
import type { RequestTemplate } from '../definition/requestTemplate.ts';
import { TEST_CONVERSATION_ID, type ToolCall } from './toolCall.ts';
import type { OutboundRequest } from '../../platform/outbound/outboundClient.ts';
import { USER_AGENT } from '../../platform/version.ts';
import { signatureHeaders } from '../../platform/security/signature.ts';

const MEBIBYTE = 1024 * 1024;

/** Where and how to call a tool, with its secrets in plain text. */
export type ToolAddress =
  | { readonly kind: 'Webhook'; readonly endpoint: string; readonly secret: string }
  | {
      readonly kind: 'HTTP';
      readonly template: RequestTemplate;
      readonly secrets: Readonly<Record<string, string>>;
    };

/**
 * The call as its receiver sees it, the same for every attempt.
 * @see docs/events-and-signatures.md, "Signed tool calls"
 */
export interface Envelope {
  readonly tool_call_id: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly conversation_id: string;
}

export const envelopeOf = (call: ToolCall): Envelope => ({
  tool_call_id: call.id,
  tool: call.tool,
  arguments: call.arguments,
  conversation_id: call.conversationId ?? TEST_CONVERSATION_ID,
});

type Request = Omit<OutboundRequest, 'workspaceId' | 'timeoutMs' | 'signal'>;

/**
 * Makes the request of an attempt, with the limits for reading its answer.
 * @throws RequestRenderError when the arguments do not make a request (HTTP kind)
 */
export function toolRequest(address: ToolAddress, envelope: Envelope, now: Date): Request {
  if (address.kind === 'HTTP') return httpRequest(address, envelope);
  const body = JSON.stringify(envelope);
  return signedPost(address, { id: envelope.tool_call_id, body, maxBytes: MEBIBYTE }, now);
}

/**
 * A POST of JSON that is signed for this moment; redirects are not followed.
 * @param request.id the id of the call or turn, the same for all of its attempts
 */
export const signedPost = (
  { endpoint, secret }: { readonly endpoint: string; readonly secret: string },
  { id, body, maxBytes }: { readonly id: string; readonly body: string; readonly maxBytes: number },
  now: Date,
): Request => ({
  url: endpoint,
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...signatureHeaders(id, body, [secret], now),
  },
  body,
  maxBytes,
  onTooLarge: 'fail',
  maxRedirects: 0,
});

const MAX_REDIRECTS = 5;
const OWN_HEADERS = { 'user-agent': USER_AGENT, accept: 'application/json, text/*;q=0.5' };

/**
 * A request in the API's own shape, without a signature. It follows up to five redirects, each to a
 * public https:// address. A redirect to another origin carries none of the template's headers,
 * since any of them may hold a secret.
 */
function httpRequest(
  { template, secrets }: ToolAddress & { kind: 'HTTP' },
  envelope: Envelope,
): Request {
  const rendered = renderRequest(template, {
    arguments: envelope.arguments,
    conversationId: envelope.conversation_id,
    callId: envelope.tool_call_id,
    secrets,
  });
  return {
    ...rendered,
    headers: { ...OWN_HEADERS, ...rendered.headers },
    headersElsewhere: OWN_HEADERS,
    maxBytes: 5 * MEBIBYTE,
    onTooLarge: 'fail',
    maxRedirects: MAX_REDIRECTS,
  };
}
