/**
 * One value that a team fills in to connect a channel or a payment provider; the API and the
 * screens are made from it.
 */
export interface SetupField {
  readonly name: string;
  readonly label: string;
  /** For who fills it in: where it is found. */
  readonly help: string;
  /**
   *  `secret`: kept sealed and never shown. `generated`: made by the service when left out, kept sealed, shown. `lines`: a text of several lines.
   */
  readonly kind: 'text' | 'lines' | 'secret' | 'generated';
  readonly isRequired: boolean;
  /** What it must match; `hint` says so in words (`must be the digits of …`). */
  readonly pattern?: RegExp;
  readonly hint?: string;
  readonly max: number;
}

/** What is filled in, in the clear, by field name. */
export type SetupValues = Readonly<Record<string, string>>;
