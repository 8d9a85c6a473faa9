import { shorten } from '../../platform/shorten.ts';

/**
 * Placeholders in the texts of a request template: `{{args.x}}`, `{{args.address.city}}`,
 * `{{conversation.id}}`, `{{call.id}}`, `{{secrets.NAME}}`.
 */

export type Placeholder =
  | { readonly kind: 'argument'; readonly path: readonly string[] }
  | { readonly kind: 'conversationId' }
  | { readonly kind: 'callId' }
  | { readonly kind: 'secret'; readonly name: string };

/** A piece of a text: literal text, which is never empty, or a placeholder. */
export type Part = string | Placeholder;

/** A text cannot be used. `message` is a sentence without its subject: `must begin with …`. */
export class TemplateTextError extends Error {
  override readonly name = 'TemplateTextError';
}

export const isPlaceholder = (part: Part): part is Placeholder => typeof part !== 'string';

/** The placeholder as a template writes it, for messages. */
export function formatPlaceholder(placeholder: Placeholder): string {
  switch (placeholder.kind) {
    case 'argument':
      return `{{args.${placeholder.path.join('.')}}}`;
    case 'conversationId':
      return '{{conversation.id}}';
    case 'callId':
      return '{{call.id}}';
    case 'secret':
      return `{{secrets.${placeholder.name}}}`;
  }
}

const NAME = /^[^\s.{}]+$/;

const HELP =
  'Use {{args.name}}, {{conversation.id}}, {{call.id}} or, in headers only, {{secrets.NAME}}.';

const excerpt = (text: string) => shorten(text, 60);

function readPlaceholder(inner: string): Placeholder {
  const [source, ...path] = inner.trim().split('.');
  const isNamed = path.length > 0 && path.every((name) => NAME.test(name));
  if (source === 'args' && isNamed) return { kind: 'argument', path };
  if (source === 'secrets' && isNamed && path.length === 1)
    return { kind: 'secret', name: path[0]! };
  if (source === 'conversation' && path.join('.') === 'id') return { kind: 'conversationId' };
  if (source === 'call' && path.join('.') === 'id') return { kind: 'callId' };
  throw new TemplateTextError(`holds {{${excerpt(inner)}}}, which is not a placeholder. ${HELP}`);
}

/**
 * Splits a text into its parts, in order. A text without placeholders is one part, and an empty text
 * has none.
 * @throws TemplateTextError for `{{` without `}}`, and for `{{…}}` that is none of the placeholders
 * above
 */
export function parsePlaceholders(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const close = text.indexOf('}}', open);
    if (close === -1)
      throw new TemplateTextError(
        `opens {{ and never closes it: ${JSON.stringify(excerpt(text.slice(open)))}. Close it with }}.`,
      );
    parts.push(text.slice(from, open), readPlaceholder(text.slice(open + 2, close)));
    from = close + 2;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== '');
}

/** Cuts parts at each `separator` in literal text. */
export function splitParts(parts: readonly Part[], separator: string): Part[][] {
  const pieces: Part[][] = [[]];
  for (const part of parts) {
    const [first, ...rest] = isPlaceholder(part) ? [part] : part.split(separator);
    if (first !== '') pieces.at(-1)!.push(first!);
    for (const piece of rest) pieces.push(piece === '' ? [] : [piece]);
  }
  return pieces;
}
