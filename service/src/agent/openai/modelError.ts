/**
 * Why the language model gave no step: a sentence for the log, with neither the key nor the request
 * in it.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}
