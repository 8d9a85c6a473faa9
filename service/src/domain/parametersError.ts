/** A `parameters` schema that cannot be used; `message` says what is wrong and what to do. */
export class ParametersError extends Error {
  override readonly name = 'ParametersError';
  /** The place at fault: `parameters.properties.date.type`. */
  readonly param: string;

  constructor(param: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.param = param;
  }
}
