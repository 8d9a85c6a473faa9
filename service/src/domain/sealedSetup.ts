import type { CheckedSetup } from './checkSetup.ts';
import type { Deps } from './deps.ts';
import type { SetupField, SetupValues } from './setupField.ts';

/** What was filled in, as it is stored with a channel or a payment account. */
export interface SealedSetup {
  readonly settings: SetupValues;
  readonly sealedSecrets: SetupValues;
}

type Box = Pick<Deps, 'secrets'>;

export const EMPTY_SETUP: SealedSetup = { settings: {}, sealedSecrets: {} };

/** What is stored once a change is made: what the change does not name stays. */
export function sealSetup(
  { secrets: box }: Box,
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

/** Everything in the clear, for the time of a call. */
export const openSetup = (
  { secrets: box }: Box,
  { settings, sealedSecrets }: SealedSetup,
): SetupValues => ({
  ...settings,
  ...Object.fromEntries(
    Object.entries(sealedSecrets).map(([name, sealed]) => [name, box.open(sealed)]),
  ),
});

/**
 * What a team may see of the sealed values, in the clear: generated ones, which are typed in
 * elsewhere.
 */
export const openGenerated = (
  { secrets: box }: Box,
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
