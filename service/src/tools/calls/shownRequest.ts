import { RequestRenderError } from '../definition/renderRequest.ts';
import type { Tool } from '../tool.ts';
import type { ToolCall } from './toolCall.ts';
import { SECRET_PLACE } from './scrubber.ts';
import { envelopeOf, toolRequest, type ToolAddress } from './toolRequest.ts';

/** A request as a person may see it. */
interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
}

/**
 * Shows the request that a call sent, rebuilt from the tool's definition and the call's arguments
 * without opening any secret: `[secret]` stands for a secret of the template, and signatures are
 * shortened.
 * @returns `changed` when the tool has changed since the call; `not_made` when the arguments make
 * no request
 */
export function showRequest(tool: Tool, call: ToolCall): ShownRequest | 'changed' | 'not_made' {
  if (tool.definitionHash !== call.definitionHash) return 'changed';
  try {
    const { method, url, headers, body } = toolRequest(
      withoutSecrets(tool),
      envelopeOf(call),
      new Date(call.createdAt),
    );
    const shown = Object.entries(headers).map(
      ([name, value]) => [name, shortenSignature(name, value)] as const,
    );
    return { method, url, headers: shown, body: body === undefined ? null : String(body) };
  } catch (error) {
    if (error instanceof RequestRenderError) return 'not_made';
    throw error;
  }
}

function withoutSecrets(tool: Tool): ToolAddress {
  if (tool.requestTemplate === null)
    return { kind: 'Webhook', endpoint: tool.endpoint!, secret: 'whsec_' };
  const secrets = Object.keys(tool.sealedTemplateSecrets).map((name) => [name, SECRET_PLACE]);
  return {
    kind: 'HTTP',
    template: tool.requestTemplate,
    secrets: Object.fromEntries(secrets) as Record<string, string>,
  };
}

const SIGNATURES: Readonly<Record<string, RegExp>> = {
  'x-service-signature': /(?<=v1=)[^,]+/g,
  'webhook-signature': /(?<=v1,)\S+/g,
};

const shortenSignature = (name: string, value: string) =>
  Object.hasOwn(SIGNATURES, name) ? value.replace(SIGNATURES[name]!, '…') : value;
