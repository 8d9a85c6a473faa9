import { AppError } from './errorCatalogue.ts';
import { isPlaceholder, parsePlaceholders } from './placeholders.ts';
import type { RequestTemplate } from './requestTemplate.ts';
import { parseUrlTemplate } from './urlTemplate.ts';

/** Secrets of a tool by name, sealed. */
type Sealed = Readonly<Record<string, string>>;

/**
 * A tool's secrets after a change of its request. Stored ones are shown to nobody, so a person who
 * edits a tool must not be able to send them to a system of their own: they stay with the scheme,
 * host and port for which they were given. When the request goes elsewhere, those it uses have to
 * be given again, the others go.
 * @throws invalid_request (400) that names the secrets to give again
 * @see decision 0039
 */
export function secretsAfterChange(
  before: RequestTemplate | null,
  after: RequestTemplate | null,
  stored: Sealed,
  given: Sealed,
): Sealed {
  if (before === null || after === null || originOf(before) === originOf(after))
    return { ...stored, ...given };
  const missing = secretsUsedBy(after).filter((name) => !Object.hasOwn(given, name));
  if (missing.length === 0) return given;
  throw new AppError(
    'invalid_request',
    `secrets ${missing.join(', ')} must be given again: the request goes to ${originOf(after)} now, and a stored secret is never sent to another scheme, host or port than the one it was given for.`,
    { param: 'secrets' },
  );
}

/** In one spelling: without the port that the scheme has anyway, in small letters. */
const originOf = ({ url }: RequestTemplate): string => new URL(parseUrlTemplate(url).origin).origin;

/** They stand in headers only. */
function secretsUsedBy({ headers = {} }: RequestTemplate): readonly string[] {
  const placeholders = Object.values(headers).flatMap(parsePlaceholders).filter(isPlaceholder);
  return [
    ...new Set(placeholders.filter((each) => each.kind === 'secret').map(({ name }) => name)),
  ];
}
