import type { Found } from '../platform/reading/dates.ts';
import type { Language } from '../platform/reading/language.ts';
import { wordSet, wordsOf } from '../platform/reading/words.ts';

/** What turns an answer around, or puts it in doubt: "not Friday", "Friday?". */

/** With one of these, an answer may mean something other than what it names. */
const REFUSES = wordSet(
  'not no never neither nor none dont doesnt didnt cant cannot couldnt wont wouldnt shouldnt isnt',
  'arent wasnt without except besides apart but if unless',
  'or maybe instead than before after until bad busy impossible hate other another cancel wrong',
  'ni sin nunca jamas tampoco menos salvo excepto pero mal malo imposible ocupado quizas antes',
  'despues otro otra nao nem sem exceto mas ruim impossivel ou talvez depois outro outra',
);

/** Words that refuse nothing in one language: "no sábado" is on Saturday, "más" is more. */
const HARMLESS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: wordSet(),
  es: wordSet('mas'),
  pt: wordSet('no'),
};

export const isQuestion = (text: string): boolean => /[?¿]/.test(text);

/**
 * Whether a text has a word that refuses something.
 * @param languages in which it may be written
 */
export const refuses = (text: string, languages: readonly Language[]): boolean =>
  wordsOf(text).some(
    (word) => REFUSES.has(word) && !languages.every((each) => HARMLESS[each].has(word)),
  );

const MAX_WORDS_TO_TAKE_BACK = 4;

/** Whether a text takes back what was written before it: "actually no", "no, sorry". */
export const takesBack = (text: string, languages: readonly Language[]): boolean =>
  wordsOf(text).length <= MAX_WORDS_TO_TAKE_BACK && refuses(text, languages);

/** What comes after it is the answer: "no, Friday", "no wait, Friday". */
const LEADING_NO = /^[^\p{L}\p{N}]*(?:no|nao|não)(?:\s+(?:wait|espera|espere))?\s*[,.;:!\n]/iu;

/** After what an answer names, these say at what time: "Friday after 5". */
const AT_WHAT_TIME = /(?<!\p{L})(?:before|after|antes|despu[eé]s|depois)(?!\p{L})/giu;

const SENTENCE = /[^.!?]+[.!?]*/g;

/**
 * Whether a sentence asks about what it names, or turns it around: "Is Friday free?", "not Friday".
 * Other sentences do not count: "It is 1042. I have not received it."
 * @param found what it names, whose own words do not count: "the day after tomorrow"
 */
export function isDoubted(
  text: string,
  found: readonly Found<unknown>[],
  languages: readonly Language[],
): boolean {
  const others = found.reduce(
    (rest, { at, length }) => rest.slice(0, at) + ' '.repeat(length) + rest.slice(at + length),
    text.replace(LEADING_NO, (no) => ' '.repeat(no.length)),
  );
  return [...others.matchAll(SENTENCE)].some(({ 0: sentence, index: start }) => {
    const places = found.map(({ at }) => at - start);
    const first = Math.min(...places.filter((at) => at >= 0 && at < sentence.length));
    if (first === Infinity) return false;
    return (
      isQuestion(sentence) ||
      refuses(sentence.slice(0, first), languages) ||
      refuses(sentence.slice(first).replace(AT_WHAT_TIME, ' '), languages)
    );
  });
}
