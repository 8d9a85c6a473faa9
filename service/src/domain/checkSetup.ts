import { newSetupValue } from '../security/tokens.ts';
import { AppError } from './errorCatalogue.ts';
import type { SetupField, SetupValues } from './setupField.ts';

/** What is to be stored of what was filled in, in the clear, by field name. */
export interface CheckedSetup {
  /** Not secret: kinds `text` and `lines`. */
  readonly settings: SetupValues;
  /** To be kept sealed: kinds `secret` and `generated`. */
  readonly secrets: SetupValues;
  /** Values that are taken away. */
  readonly removed: readonly string[];
}

/**
 * Checks what a team has filled in against the fields of a channel or a payment provider. Values
 * are trimmed. An empty text takes a value away that is not required; of a generated one, a new one
 * is made. What is left out stays as it is; when the account is new, generated values that are left
 * out are made.
 * @throws invalid_request (400) with param `settings.<name>`
 */
export function checkSetup(
  fields: readonly SetupField[],
  given: SetupValues,
  { isNew }: { isNew: boolean },
): CheckedSetup {
  const unknown = Object.keys(given).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined)
    throw refused(
      unknown.slice(0, 64),
      `is not known; there is ${fields.map(({ name }) => name).join(', ')}`,
    );

  const settings: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  const removed: string[] = [];
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name)
      ? checkedValue(field, given[field.name]!)
      : isNew
        ? newValue(field)
        : null;
    if (value === null) continue;
    if (value === '') removed.push(field.name);
    else if (isKeptSealed(field)) secrets[field.name] = value;
    else settings[field.name] = value;
  }
  return { settings, secrets, removed };
}

const isKeptSealed = ({ kind }: SetupField): boolean => kind === 'secret' || kind === 'generated';

/** @returns the empty text when the value is taken away. @throws invalid_request (400) */
function checkedValue(field: SetupField, text: string): string {
  const value = text.trim();
  if (value === '') return emptyValue(field);
  if (!value.isWellFormed() || value.includes('\0'))
    throw refused(field.name, 'must be well-formed Unicode without NUL');
  if (field.kind !== 'lines' && /\p{Cc}/u.test(value))
    throw refused(field.name, 'must be one line, without control characters');
  if ([...value].length > field.max)
    throw refused(field.name, `must have at most ${field.max} characters`);
  if (field.pattern && !new RegExp(field.pattern).test(value))
    throw refused(field.name, field.hint ?? 'is not in the right form');
  return value;
}

function emptyValue(field: SetupField): string {
  if (field.kind === 'generated') return newSetupValue();
  if (field.isRequired) throw refused(field.name, 'must not be empty');
  return '';
}

/** What a new account has of a field that was left out. @throws invalid_request (400) */
function newValue(field: SetupField): string | null {
  if (field.kind === 'generated') return newSetupValue();
  if (field.isRequired) throw refused(field.name, 'is missing');
  return null;
}

const refused = (name: string, problem: string) =>
  new AppError('invalid_request', `settings.${name} ${problem}.`, { param: `settings.${name}` });
