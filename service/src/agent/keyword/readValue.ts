import { isJsonObject, ownField, type Json, type JsonObject } from '../../platform/json.ts';
import { patternFinder, type PatternWork } from '../../platform/linearPattern.ts';
import { splitName, stem, wordSet, wordsOf } from '../../platform/reading/words.ts';
import { contentTerms } from './chooseTool.ts';
import type { Found } from '../../platform/reading/dates.ts';
import { numbersIn, zeroOrOne } from '../../platform/reading/numbers.ts';
import { listAt, numberAt, stringAt, typeOf, type Argument } from './schema.ts';
import {
  URL_PATTERN,
  blankMatches,
  EMAIL_PATTERN,
  MASKED_EMAIL,
  MASKED_PHONE,
  type SourceText,
} from './sourceText.ts';

/** The reading of one text for one argument. */
interface Reading {
  readonly argument: Argument;
  readonly text: SourceText;
  /** Whether the text answers the question for this argument, so that all of it may be the value. */
  readonly isAnswer: boolean;
  /** Whether a number or a code counts only beside a word of the argument's name, or after a `#`. */
  readonly onlyNamed: boolean;
  /** How much work reading may still cause in this turn. */
  readonly work: PatternWork;
}

/** The cost of reading one character, in the unit of `work`. */
const WORK_PER_CHARACTER = 16;

/**
 * Reads an argument's value from a text. A place in the text gives its value to one argument only.
 * @returns undefined when the text has no value, or several that could be meant
 * @throws PatternBudgetError when the turn has read enough
 */
export function readValue(reading: Reading): Json | undefined {
  const { argument, text, work } = reading;
  const { schema, required } = argument;
  work.spend(WORK_PER_CHARACTER * text.text.length, 'Reading');
  if (Object.hasOwn(schema, 'const')) return required ? schema.const : undefined;
  const options = listAt(schema, 'enum');
  if (options !== null) return readOption(options, reading);
  switch (typeOf(schema)) {
    case 'boolean':
      return readBoolean(reading);
    case 'integer':
    case 'number':
      return take(readNumber(reading), text);
    case 'array':
      return readList(reading);
    case 'object':
      return undefined;
    default:
      return take(readString(reading), text);
  }
}

function take<Value>(found: Found<Value> | undefined, text: SourceText): Value | undefined {
  if (found !== undefined && found.length > 0) text.take(found);
  return found?.value;
}

const nameTerms = (argument: Argument) => contentTerms(splitName(argument.name));

// ---- Options and lists

const MAX_OPTIONS = 200;

function readOption(options: readonly Json[], { argument, text }: Reading): Json | undefined {
  if (options.length === 1 && argument.required) return options[0];
  const named = optionsIn(options, text.text);
  return named.length === 1 ? named[0] : undefined;
}

const stemmed = (text: string) => ` ${wordsOf(text).map(stem).join(' ')} `;

/**
 * The options that a text names, in the order of the text. A longer name hides the shorter ones
 * inside it.
 */
function optionsIn(options: readonly Json[], text: string): readonly Json[] {
  const words = stemmed(text);
  const named = options
    .slice(0, MAX_OPTIONS)
    .filter((option) => typeof option === 'string' || typeof option === 'number')
    .map((option) => ({ option, words: stemmed(splitName(String(option))) }))
    .filter((each) => each.words.trim() !== '' && words.includes(each.words));
  return named
    .filter((each) => !named.some((other) => other !== each && other.words.includes(each.words)))
    .sort((a, b) => words.indexOf(a.words) - words.indexOf(b.words))
    .map(({ option }) => option);
}

/** Reads a list. Without options, it is read only from the answer to the question for it. */
function readList({ argument, text, isAnswer }: Reading): Json | undefined {
  const items = ownField(argument.schema, 'items');
  const itemSchema = isJsonObject(items) ? items : {};
  const options = listAt(itemSchema, 'enum');
  const values = (): readonly Json[] => {
    if (options !== null) return optionsIn(options, text.text);
    if (!isAnswer) return [];
    if (typeOf(itemSchema) === 'string')
      return text.text.split(/[,;\n]| (?:and|y|e) /).map((part) => part.trim());
    return numbersIn(text.blanked, text.language, typeOf(itemSchema) === 'integer')
      .map(({ value }) => value)
      .filter(Number.isFinite);
  };
  const found = values().filter((value) => value !== '');
  return found.length > 0 ? found : undefined;
}

// ---- Yes and no

const YES_WORDS = wordSet(
  'yes yeah yep sure ok true si sim claro dale quiero quero correct with con com',
);
const NO_WORDS = wordSet('no nope not dont false nao never nunca without sin sem');

/** Reads yes or no from the answer to the question, or from a message that names the argument. */
function readBoolean({ argument, text, isAnswer }: Reading): boolean | undefined {
  const words = wordsOf(text.text).slice(0, 400);
  const saysNo = (among: readonly string[]) => among.some((word) => NO_WORDS.has(word));
  if (isAnswer) {
    const isYes = words.some((word) => YES_WORDS.has(word));
    const isNo = saysNo(words);
    return isYes === isNo ? undefined : isYes; // both or neither
  }
  const name = nameTerms(argument);
  const said = words.map(stem);
  if (name.length === 0 || !name.every((term) => said.includes(term))) return undefined;
  const at = said.findIndex((word) => name.includes(word));
  return !saysNo(words.slice(Math.max(0, at - 4), at));
}

// ---- Numbers

function readNumber(reading: Reading): Found<number> | undefined {
  const { argument, text, isAnswer, onlyNamed } = reading;
  const { schema, required } = argument;
  const isInteger = typeOf(schema) === 'integer';
  const written = isAnswer && text.isLengthOfTime ? text.text : text.blanked;
  const numbers = numbersIn(written, text.language, isInteger).filter(
    (number) => !text.isTaken(number) && fits(number.value, schema, isInteger),
  );
  if (isAnswer) {
    const value = zeroOrOne(text.text, [text.language]);
    if (numbers.length > 0 || value === null || !fits(value, schema, isInteger)) return numbers[0];
    return { value, at: 0, length: 0 };
  }
  const named = text.nearName(numbers, nameTerms(argument));
  if (named !== undefined || onlyNamed || !required) return named;
  return numbers.length === 1 ? numbers[0] : undefined;
}

const fits = (value: number, schema: JsonObject, isInteger: boolean): boolean =>
  (!isInteger || Number.isSafeInteger(value)) &&
  value >= (numberAt(schema, 'minimum') ?? -Infinity) &&
  value <= (numberAt(schema, 'maximum') ?? Infinity) &&
  value > (numberAt(schema, 'exclusiveMinimum') ?? -Infinity) &&
  value < (numberAt(schema, 'exclusiveMaximum') ?? Infinity);

// ---- Texts

const PHONE = /(?<![\p{L}\p{N}+])\+?\(?\d[\d ().-]{5,18}\d(?![\p{L}\p{N}])/giu;
const CODE =
  /(?<![\p{L}\p{N}])#?[\p{L}\p{N}](?:[\p{L}\p{N}._/-]{0,62}[\p{L}\p{N}])?(?![\p{L}\p{N}])/gu;

/** How each kind of text is read. The first kinds, up to `time`, are formats of JSON Schema. */
const READERS = {
  email: ({ text }: Reading) => text.find(EMAIL_PATTERN),
  uri: ({ text }: Reading) =>
    text
      .find(URL_PATTERN)
      .map((found) => ({ ...found, value: found.value.replace(/[.,;:!?)\]]+$/, '') }))
      .filter(({ value }) => URL.canParse(value)),
  uuid: codesIn,
  date: ({ text }: Reading) => text.dates.dates,
  'date-time': ({ text }: Reading) => text.dates.moments,
  time: ({ text }: Reading) => text.dates.times,
  /** A time without seconds: `15:30`. */
  clock: ({ text }: Reading) =>
    text.dates.times.map((time) => ({ ...time, value: time.value.slice(0, 5) })),
  phone: ({ text }: Reading) =>
    text
      .find(PHONE, text.blanked)
      .map((found) => ({ ...found, value: found.value.replace(/(?!^\+)\D/g, '') })),
  text: (reading: Reading) => (reading.argument.required ? wholeText(reading) : []),
  code: codesIn,
  other: (reading: Reading) => (reading.isAnswer ? wholeText(reading) : codesIn(reading)),
} satisfies Record<string, (reading: Reading) => readonly Found<string>[]>;

type Kind = keyof typeof READERS;

/** The kind of text that a word in the argument's name means, if the schema has no format. */
const KINDS_BY_NAME: readonly (readonly [Kind, ReadonlySet<string>])[] = [
  ['email', wordSet('email mail correo')],
  ['uri', wordSet('url link website')],
  ['phone', wordSet('phone telephone telefono telefone celular mobile movil whatsapp')],
  ['date', wordSet('date fecha')],
  ['clock', wordSet('time hora')],
  [
    'text',
    wordSet(
      'query question text message reason comment comments details description issue problem note notes content request topic subject pregunta consulta mensaje motivo detalle descripcion comentario pergunta mensagem duvida descricao',
    ),
  ],
  [
    'code',
    wordSet(
      'code id number no num nro numero tracking reference ref referencia codigo folio guia ticket sku order pedido orden invoice factura fatura booking reserva protocolo cpf cnpj dni rut',
    ),
  ],
];

function kindOf(argument: Argument): Kind {
  const format = stringAt(argument.schema, 'format') ?? '';
  if (Object.hasOwn(READERS, format)) return format as Kind;
  const name = wordsOf(splitName(argument.name));
  return KINDS_BY_NAME.find(([, words]) => name.some((word) => words.has(word)))?.[0] ?? 'other';
}

/** Whether the argument takes the customer's whole message as its value. */
export const isFreeText = (argument: Argument): boolean =>
  typeOf(argument.schema) === 'string' &&
  !['enum', 'const', 'pattern'].some((key) => Object.hasOwn(argument.schema, key)) &&
  kindOf(argument) === 'text';

function readString(reading: Reading): Found<string> | undefined {
  const { argument, text } = reading;
  const { schema } = argument;
  const kind = kindOf(argument);
  const pattern = stringAt(schema, 'pattern');
  const found = (pattern === null ? null : matchesOf(pattern, reading)) ?? READERS[kind](reading);
  const fitting = found.find(
    (each) => hasFittingLength(each.value, schema) && (each.length === 0 || !text.isTaken(each)),
  );
  const masked = maskedIn(kind, text);
  const isMaskFirst = masked !== undefined && !(fitting !== undefined && fitting.at < masked.at);
  return isMaskFirst ? masked : fitting;
}

/** A masked detail. The schema's pattern and length are for the real value, and not checked here. */
function maskedIn(kind: Kind, text: SourceText): Found<string> | undefined {
  if (kind !== 'email' && kind !== 'phone') return undefined;
  const masked = text.find(kind === 'email' ? MASKED_EMAIL : MASKED_PHONE);
  return masked.find((each) => !text.isTaken(each));
}

const MAX_MATCHES = 50;

/** Matches in the text as written, else in capitals. Null for a pattern that RE2 does not support. */
function matchesOf(
  pattern: string,
  { argument, text, work }: Reading,
): readonly Found<string>[] | null {
  const whole = patternFinder(pattern, work);
  const inside = patternFinder(pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, ''), work);
  if (whole === null || inside === null) return null;
  const find = (within: string) =>
    inside
      .find(within, MAX_MATCHES)
      .map((match) => ({ ...match, length: match.value.length }))
      .filter(
        ({ value, at, length }) =>
          value.trim() !== '' && standsAlone(within, at, length) && whole.test(value),
      );
  const read = [MASKED_EMAIL, MASKED_PHONE].reduce(blankMatches, text.text);
  const written = find(read);
  const found = written.length > 0 ? written : find(read.toUpperCase());
  return argument.required
    ? found
    : found.filter(({ value }) => /\d/.test(value) && !/\s/.test(value));
}

/** `AB12` in `XAB123` is no match for `^[A-Z]{2}\d{2}$`. */
function standsAlone(text: string, at: number, length: number): boolean {
  const isJoined = (place: number) =>
    /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, place - 2), place)) &&
    /^[\p{L}\p{N}]/u.test(text.slice(place, place + 2));
  return !isJoined(at) && !isJoined(at + length);
}

function hasFittingLength(value: string, schema: JsonObject): boolean {
  const { length } = [...value];
  return (
    length >= (numberAt(schema, 'minLength') ?? 1) &&
    length <= (numberAt(schema, 'maxLength') ?? Infinity)
  );
}

/** The whole text, cut to the length that the schema allows. Other arguments can still use it. */
function wholeText({ text, argument }: Reading): readonly Found<string>[] {
  const characters = [...text.text.trim()];
  const max = numberAt(argument.schema, 'maxLength') ?? characters.length;
  return [{ value: characters.slice(0, max).join('').trimEnd(), at: 0, length: 0 }];
}

/**
 * The words that look like a code: they hold a digit. First comes one with a `#`, or else one beside
 * the argument's name, then those with letters, then those of three characters or more.
 */
function codesIn({ argument, text, isAnswer, onlyNamed }: Reading): readonly Found<string>[] {
  const codes = text
    .find(CODE, text.blanked)
    .filter((code) => /\d/.test(code.value) && !text.isTaken(code));
  const named =
    codes.find(({ value }) => value.startsWith('#')) ?? text.nearName(codes, nameTerms(argument));
  const others = [
    ...codes.filter(({ value }) => /\p{L}/u.test(value)),
    ...codes.filter(({ value }) => isAnswer || value.length >= 3),
  ];
  const found = [
    ...(named === undefined ? [] : [named]),
    ...(onlyNamed || !argument.required ? [] : others),
  ];
  return found.map((code) => ({ ...code, value: code.value.replace(/^#/, '') }));
}
