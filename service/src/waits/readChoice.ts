import { numbersOf, withDigits } from '../platform/reading/choiceNumbers.ts';
import type { Language } from '../platform/reading/language.ts';
import { wordSet, wordsOf } from '../platform/reading/words.ts';
import { isQuestion, refuses } from './refusal.ts';

/** How a choice is read: by its text, by its place in the list, or as words of a short answer. */

/** Accents, and characters that nobody sees. */
const IGNORED_CHARACTERS =
  /[\u0300-\u036F]|\u00AD|[\u200B-\u200F]|[\u202A-\u202E]|[\u2060-\u2069]|\uFE0E|\uFE0F|\uFEFF/gu;

/** A text as it is compared: case, accents and the number of spaces do not matter, signs do. */
export const spelled = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(IGNORED_CHARACTERS, '')
    .toUpperCase() // ß becomes SS
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim();

/** Words alone, without signs. */
const folded = (text: string): string => wordsOf(spelled(text)).join(' ') || spelled(text);

/** `+`, `<` and the last character of `A-`: what tells choices of the same words apart. */
const SIGN = /\p{Sm}|(?<=[\p{L}\p{N}])-(?![\p{L}\p{N}])/gu;

const signsOf = (text: string): string => (text.match(SIGN) ?? []).join('');

/** An answer may leave the signs of a choice out, but may not have other signs. */
const fitsSigns = (text: string, choice: string): boolean =>
  signsOf(text) === '' || signsOf(text) === signsOf(choice);

/**
 * A question names a choice and does not take it: `Tuesday?`, `2?`. Only a choice that is a question
 * itself is taken so.
 * @param languages in which the text may be written
 * @returns the choice as it was offered; null when none is meant, or several could be
 */
export function readChoice(
  text: string,
  choices: readonly string[],
  languages: readonly Language[],
): string | null {
  const named =
    choices.find((choice) => choice.trim() === text.trim()) ??
    choices.find((choice) => spelled(choice) === spelled(text));
  if (named !== undefined) return named;
  const alike = choices.filter(
    (choice) =>
      folded(choice) === folded(text) &&
      fitsSigns(text, choice) &&
      (!isQuestion(text) || isQuestion(choice)),
  );
  if (alike.length > 0) return onlyOne(alike);
  if (isQuestion(text)) return null;
  const inside = choicesInside(text, choices, languages);
  if (inside.length === 0 && refusesPlace(text)) return null;
  return onlyOne([...inside, ...choiceAtPlace(text, choices)]);
}

/** The only value in a list, however often it is there; null when there is none, or several. */
export const onlyOne = <Value>(found: readonly Value[]): Value | null =>
  new Set(found).size === 1 ? found[0]! : null;

/** Words that stand in front of or behind a place: `option 2`, `la 2 por favor`, `sorry, 2`. */
const BESIDE_A_PLACE = wordSet(
  'the el la o a one option choice opcion opcao alternativa n no nr num number numero',
  'please thanks por favor gracias obrigado obrigada quiero quero want i take eu',
  'sorry oops actually mean meant perdon digo desculpe desculpa',
);

/** `No. 2` is a place; `2`, then `actually no` takes it back. */
const refusesPlace = (text: string): boolean => {
  const words = wordsOf(text);
  return words.lastIndexOf('no') > words.findIndex((each) => !BESIDE_A_PLACE.has(each));
};

/** With one of these, an ordinal is no day of the week or month. */
const NAMES_A_PLACE = wordSet('one option choice opcion opcao alternativa la el a o');
const PLACE = /^(?:n|no|nr|num)?(\d{1,2})$/;
const ORDINAL = /^(\d{1,2})(?:st|nd|rd|th|er|era|ro|ra|do|da|to|ta|mo|ma|no|na|vo|va)$/;
const ORDINALS = [
  'first primero primera primer primeiro primeira',
  'second segundo segunda',
  'third tercero tercera tercer terceiro terceira',
  'fourth cuarto cuarta quarto quarta',
  'fifth quinto quinta',
  'sixth sexto sexta',
  'seventh septimo septima setimo setima',
  'eighth octavo octava oitavo oitava',
  'ninth noveno novena nono nona',
  'tenth decimo decima',
].map((words) => wordSet(words));
/** The ordinals that are also days of the week in Portuguese. */
const DAYS = wordSet('segunda quarta quinta sexta');
/** "One second" asks for time; "the second one" is a place. */
const MOMENT = /\b(?:a|one) second\b/;

/** With one of these, a number is a place, even if a choice has that number. */
const OPTION = wordSet('option choice opcion opcao alternativa');

/**
 * `2`, `2.`, `(2)`, `No. 2`, `option 2` and `the 2nd one` mean the second. But `2` means `2 nights`
 * when there is such a choice, and may mean `Room 2` too, wherever that stands in the list. Messages
 * show such choices without a number in front.
 * @returns several when it may mean several
 */
function choiceAtPlace(text: string, choices: readonly string[]): readonly string[] {
  const words = wordsOf(text);
  const [word, another] = words.filter((each) => !BESIDE_A_PLACE.has(each));
  if (word === undefined || another !== undefined) return [];
  const number = PLACE.exec(word)?.[1];
  const isPlace = number === undefined || words.some((each) => OPTION.has(each));
  const named = isPlace ? [] : choices.filter((each) => hasNumber(each, Number(number)));
  if (named.some((each) => beginsWith(each, Number(number)))) return named;
  const place = number ?? ordinalOf(word, words, choices);
  const choice = choices[Number(place ?? 0) - 1];
  return choice === undefined ? named : [...named, choice];
}

const hasNumber = (choice: string, number: number): boolean =>
  beginsWith(choice, number) || numbersOf(choice).includes(number);

const beginsWith = (choice: string, number: number): boolean =>
  Number(/^\d+/.exec(spelled(withDigits(choice)))?.[0] ?? NaN) === number;

function ordinalOf(
  word: string,
  words: readonly string[],
  choices: readonly string[],
): number | null {
  const found = Number(
    ORDINAL.exec(word)?.[1] ?? ORDINALS.findIndex((ordinals) => ordinals.has(word)) + 1,
  );
  if (MOMENT.test(words.join(' '))) return null;
  if (found === 0 || choices.some((choice) => wordsOf(choice).includes(word))) return null;
  const mayBeDay = DAYS.has(word) || choices.some((choice) => /\d/.test(choice));
  return mayBeDay && !words.some((each) => NAMES_A_PLACE.has(each)) ? null : found;
}

const MAX_OTHER_WORDS = 3;

/** The choices that stand as whole words in a short answer: `Tuesday please`. */
function choicesInside(
  text: string,
  choices: readonly string[],
  languages: readonly Language[],
): readonly string[] {
  const exact = standing(text, choices, spelled);
  const fitting = choices.filter((choice) => fitsSigns(text, choice));
  const found = exact.length > 0 ? exact : standing(text, fitting, folded);
  // With several, the answer is ambiguous, whatever else it says: return them all.
  return found.filter((choice) => found.length > 1 || isPlain(text, choice, languages));
}

/**
 * The choices that stand in a text. Where a longer choice stands, a part of its words is not meant:
 * `Express delivery` is not `Delivery`.
 */
function standing(
  text: string,
  choices: readonly string[],
  form: (text: string) => string,
): readonly string[] {
  const whole = form(text);
  const forms = choices.map(form).filter((each) => standsIn(whole, each));
  return choices.filter((choice) => {
    const part = form(choice);
    const longer = forms.filter((each) => each !== part && standsIn(each, part));
    return standsIn(
      longer.reduce((rest, each) => rest.replaceAll(each, ' '), whole),
      part,
    );
  });
}

/** Whether a text says the words or the number of a choice, even if it does not choose it. */
export const namesChoice = (text: string, choices: readonly string[]): boolean =>
  choices.some((choice) => standsIn(folded(text), folded(choice))) ||
  choiceAtPlace(text, choices).length > 0;

/** Whether a text has only words of a choice: `2` and `number 2` of `Room 2`. */
export function hasWordsOf(text: string, choice: string): boolean {
  const own = wordsOf(withDigits(choice));
  return wordsOf(withDigits(text)).every((word) => BESIDE_A_PLACE.has(word) || own.includes(word));
}

/** Whether a part stands in a text and neither begins nor ends inside a word. */
function standsIn(text: string, part: string): boolean {
  // An invisible choice is found everywhere, and the loop below would not end. Waits of earlier
  // versions may have one.
  if (part === '') return false;
  const isEdge = (character: string | undefined) =>
    character === undefined || /[\s,.;:!()"]/.test(character);
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (isEdge(text[at - 1]) && isEdge(text[at + part.length])) return true;
  return false;
}

/** Whether the answer has few words beside the choice, and none that turns it around. */
function isPlain(text: string, choice: string, languages: readonly Language[]): boolean {
  const own = wordsOf(spelled(choice));
  const others = wordsOf(spelled(text)).filter((word) => !own.includes(word));
  return others.length <= MAX_OTHER_WORDS && !refuses(others.join(' '), languages);
}
