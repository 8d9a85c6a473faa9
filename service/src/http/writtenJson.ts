import { isJsonObject } from '../domain/json.ts';

/**
 * A value that is JSON text already. As a field of an answer the text is taken as it is: reading a
 * large one and writing it again would hold up everybody.
 */
export class WrittenJson {
  readonly text: string;

  /** @param text as `JSON.stringify` gives it */
  constructor(text: string) {
    this.text = text;
  }

  /** Where it is not a field of the answer itself. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** The JSON text of an answer; what is written already is not read. */
export function writeJson(answer: unknown): string {
  const isPlain = !isJsonObject(answer) || !Object.values<unknown>(answer).some(isWritten);
  if (isPlain) return JSON.stringify(answer);
  const fields: [name: string, value: unknown][] = Object.entries(answer);
  const texts = fields.map(([name, value]) => {
    const text = isWritten(value) ? value.text : JSON.stringify(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${texts.flat().join(',')}}`;
}

const isWritten = (value: unknown): value is WrittenJson => value instanceof WrittenJson;
