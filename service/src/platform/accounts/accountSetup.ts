import type { SecretBox } from '../security/secretBox.ts';
import { newSetupValue } from '../security/tokens.ts';
import type { Document } from '../../store/store.ts';
import { AppError } from '../http/errorCatalogue.ts';

/**
 * One value that a team fills in to connect a channel or a payment provider; the API and the
 * screens are made from these fields.
 */
export interface SetupField {
  readonly name: string;
  readonly label: string;
  /** Where the person who fills it in finds the value. */
  readonly help: string;
  /**
   * `secret`: kept sealed, and never shown. `generated`: kept sealed, but shown; made by the
   * service when left out. `lines`: a text of several lines.
   */
  readonly kind: 'text' | 'lines' | 'secret' | 'generated';
  readonly isRequired: boolean;
  /** What the value must match. */
  readonly pattern?: RegExp;
  /** The pattern in words: `must be the digits of …`. */
  readonly hint?: string;
  /** The most characters. */
  readonly max: number;
}

/** What is filled in, in the clear, by field name. */
export type SetupValues = Readonly<Record<string, string>>;

/** What was filled in, once it is checked: the changes to store, in the clear, by field name. */
interface CheckedSetup {
  /** Not secret: kinds `text` and `lines`. */
  readonly settings: SetupValues;
  /** To be kept sealed: kinds `secret` and `generated`. */
  readonly secrets: SetupValues;
  /** Names of the values to remove. */
  readonly removed: readonly string[];
}

/**
 * Checks what a team has filled in against the fields of a channel or a payment provider. Values
 * are trimmed. An empty text removes a value that is not required, and replaces a generated value
 * with a new one. Values that are left out stay as they are; in a new account, those of kind
 * `generated` are made.
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
      `is not a known field; the fields are ${fields.map(({ name }) => name).join(', ')}`,
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

/** @returns the empty text when the value is to be removed @throws invalid_request (400) */
function checkedValue(field: SetupField, text: string): string {
  const value = text.trim();
  if (value === '') return emptyValue(field);
  if (!value.isWellFormed() || value.includes('\0'))
    throw refused(field.name, 'must be well-formed Unicode without NUL');
  if (field.kind !== 'lines' && /\p{Cc}/u.test(value))
    throw refused(field.name, 'must be one line, without control characters');
  if ([...value].length > field.max)
    throw refused(field.name, `must have at most ${field.max} characters`);
  if (field.pattern && value.search(field.pattern) === -1)
    throw refused(field.name, field.hint ?? 'is not in the right form');
  return value;
}

function emptyValue(field: SetupField): string {
  if (field.kind === 'generated') return newSetupValue();
  if (field.isRequired) throw refused(field.name, 'must not be empty');
  return '';
}

/** The value of a field that was left out of a new account. @throws invalid_request (400) */
function newValue(field: SetupField): string | null {
  if (field.kind === 'generated') return newSetupValue();
  if (field.isRequired) throw refused(field.name, 'is missing');
  return null;
}

const refused = (name: string, problem: string) =>
  new AppError('invalid_request', `settings.${name} ${problem}.`, { param: `settings.${name}` });

/** What was filled in, as it is stored with a channel or a payment account: by field name. */
interface SealedSetup {
  /** The values that are not secret. */
  readonly settings: SetupValues;
  /** The other values, sealed. */
  readonly sealedSecrets: SetupValues;
}

/** How a test of a connection ended. */
export interface TestResult {
  readonly ok: boolean;
  /** In words: what was reached, or what is wrong and what to do. */
  readonly message: string;
}

export interface ConnectionTest extends TestResult {
  readonly at: string;
}

/** A workspace's account with a third party: a channel or a payment provider. */
export interface ConnectedAccount extends Document, SealedSetup {
  readonly workspaceId: string;
  readonly lastTest: ConnectionTest | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface SealingDeps {
  readonly secrets: SecretBox;
}

export const EMPTY_SETUP: SealedSetup = { settings: {}, sealedSecrets: {} };

/** Applies checked changes to a stored setup. Values that they do not name stay as they are. */
export function sealSetup(
  { secrets: box }: SealingDeps,
  before: SealedSetup,
  { settings, secrets, removed }: CheckedSetup,
): SealedSetup {
  const kept = (values: SetupValues) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !removed.includes(name)));
  const sealed = Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, box.seal(value)]),
  );
  return {
    settings: { ...kept(before.settings), ...settings },
    sealedSecrets: { ...kept(before.sealedSecrets), ...sealed },
  };
}

/** All values in the clear. They must not be kept longer than a call takes. */
export const openSetup = (
  { secrets: box }: SealingDeps,
  { settings, sealedSecrets }: SealedSetup,
): SetupValues => ({
  ...settings,
  ...Object.fromEntries(
    Object.entries(sealedSecrets).map(([name, sealed]) => [name, box.open(sealed)]),
  ),
});

/**
 * The sealed values that a team may see, in the clear: generated values, which have to be entered
 * at the third party.
 */
export const openGenerated = (
  { secrets: box }: SealingDeps,
  fields: readonly SetupField[],
  { sealedSecrets }: SealedSetup,
): SetupValues =>
  Object.fromEntries(
    fields.flatMap(({ kind, name }) =>
      kind === 'generated' && sealedSecrets[name] !== undefined
        ? [[name, box.open(sealedSecrets[name])]]
        : [],
    ),
  );
