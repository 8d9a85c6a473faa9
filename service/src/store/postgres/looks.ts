import type { Connection } from './database.ts';
import { nameOf } from './sql.ts';

/**
 * Puts a query for `document` and `version` into words; its values are added to those that are
 * there.
 */
export type Question = (values: unknown[]) => string;

type Rows = readonly Record<string, unknown>[];

interface Asked {
  readonly question: Question;
  readonly answer: PromiseWithResolvers<Rows>;
}

/** More are further statements: each number of them is a statement to be prepared. */
const MAX_STATEMENTS = 4;

/**
 * Reading without locks: what is asked for in the same breath is one statement, and of one moment.
 */
export class Looks {
  readonly #connection: Connection;
  readonly #assertOpen: () => void;
  #asked: Asked[] = [];

  /** @param assertOpen throws when nothing may be asked any more */
  constructor(connection: Connection, assertOpen: () => void) {
    this.#connection = connection;
    this.#assertOpen = assertOpen;
  }

  ask(question: Question): Promise<Rows> {
    if (this.#asked.length === 0) process.nextTick(() => this.#send());
    const answer = Promise.withResolvers<Rows>();
    this.#asked.push({ question, answer });
    return answer.promise;
  }

  #send(): void {
    const all = this.#asked;
    this.#asked = [];
    for (let at = 0; at < all.length; at += MAX_STATEMENTS) {
      const part = all.slice(at, at + MAX_STATEMENTS);
      this.#read(part.map(({ question }) => question)).then(
        (answers) => part.forEach(({ answer }, i) => answer.resolve(answers[i]!)),
        (error: Error) => part.forEach(({ answer }) => answer.reject(error)),
      );
    }
  }

  async #read(questions: readonly Question[]): Promise<readonly Rows[]> {
    this.#assertOpen();
    const values: unknown[] = [];
    const texts = questions.map((question) => question(values));
    const text =
      texts.length === 1
        ? texts[0]!
        : texts
            .map((each, i) => `(SELECT ${i} AS part, document, version FROM (${each}) q)`)
            .join(' UNION ALL ');
    const { rows } = await this.#connection.query({ text, values, name: nameOf(text) });
    return texts.length === 1 ? [rows] : texts.map((_, i) => rows.filter(({ part }) => part === i));
  }
}
