import { isJsonObject } from '../json.ts';

/**
 * A value that is JSON text already. As a field of an answer, the text is used as it is: parsing a
 * large text and writing it again would block the event loop.
 */
export class WrittenJson {
  readonly text: string;

  /** @param text a result of `JSON.stringify` */
  constructor(text: string) {
    this.text = text;
  }

  /** For JSON.stringify, when the value is nested deeper than a field of the answer. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** The JSON text of an answer. Fields that are JSON text already are not parsed. */
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
