import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { patternFinder, type PatternWork } from '../../domain/linearPattern.ts';
import type { Language } from '../agentModel.ts';
import { splitName, stem, wordSet, wordsOf } from '../words.ts';
import { contentTerms } from './chooseTool.ts';
import { offsetAt, type DatesAndTimes, type Found } from './dates.ts';
import { numbersIn } from './numbers.ts';
import { list, nameOf, number, own, text as textOf, typeOf, type Argument } from './schema.ts';

/** What is read: one text, for one argument. */
export interface Reading {
  readonly argument: Argument;
  readonly text: string;
  readonly language: Language;
  readonly now: Date;
  /** Whether the text answers the question for this argument, so that all of it may be the value. */
  readonly isAnswer: boolean;
  /** Whether a number or a code counts only beside a word of the argument's name. */
  readonly onlyNamed: boolean;
  /** Whether no other argument has taken its value from this place. */
  readonly isFree: (at: number) => boolean;
  /** The dates and times in the text. */
  readonly dates: () => DatesAndTimes;
  /** What reading may still cost in this turn. */
  readonly work: PatternWork;
}

/** `at`: the value's place in the text. Null when other arguments may take the same value. */
export interface Value {
  readonly value: Json;
  readonly at: number | null;
}

/** The cost of reading one character, in the unit of `work`. */
const WORK_TO_READ = 16;

/**
 * Reads an argument's value from a text.
 * @returns null when the text has no value, or several that could be meant
 * @throws PatternBudgetError when the turn has read enough
 */
export function readValue(reading: Reading): Value | null {
  const { schema, required } = reading.argument;
  reading.work.spend(WORK_TO_READ * reading.text.length, 'Reading');
  if (Object.hasOwn(schema, 'const')) return required ? { value: schema.const!, at: null } : null;
  const options = list(schema, 'enum');
  if (options !== null) return readOption(options, reading);
  switch (typeOf(schema)) {
    case 'boolean':
      return readBoolean(reading);
    case 'integer':
    case 'number':
      return readNumber(reading);
    case 'array':
      return readList(reading);
    case 'null':
      return { value: null, at: null };
    case 'object':
      return null;
    default:
      return readString(reading);
  }
}

/** Whether the customer can be asked for the argument. */
export const canBeAsked = ({ schema }: Argument): boolean =>
  typeOf(schema) !== 'object' || Object.hasOwn(schema, 'enum');

// ---- Options and lists

const MAX_OPTIONS = 200;

function readOption(options: readonly Json[], { argument, text }: Reading): Value | null {
  if (options.length === 1 && argument.required) return { value: options[0]!, at: null };
  const named = optionsIn(options, text);
  return named.length === 1 ? { value: named[0]!, at: null } : null;
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
function readList(reading: Reading): Value | null {
  const { argument, text, isAnswer, language } = reading;
  const items = own(argument.schema, 'items');
  const itemSchema = isJsonObject(items) ? items : {};
  const options = list(itemSchema, 'enum');
  const type = typeOf(itemSchema);
  const parts = (): readonly Json[] => {
    if (options !== null) return optionsIn(options, text);
    if (!isAnswer) return [];
    if (type === 'integer' || type === 'number')
      return numbersIn(withoutDates(reading), language, type === 'integer').map(
        ({ value }) => value,
      );
    return type === 'string' ? text.split(/[,;\n]| (?:and|y|e) /).map((part) => part.trim()) : [];
  };
  const values = parts()
    .filter((part) => part !== '')
    .slice(0, number(argument.schema, 'maxItems') ?? undefined);
  return values.length > 0 && values.length >= (number(argument.schema, 'minItems') ?? 0)
    ? { value: values, at: null }
    : null;
}

// ---- Yes and no

const YES_WORDS = wordSet(
  'yes yeah yep sure ok true si sim claro dale quiero quero correct with con com',
);
const NO_WORDS = wordSet('no nope not dont false nao never nunca without sin sem');

/** Reads yes or no from the answer to the question, or from a message that names the argument. */
function readBoolean({ argument, text, isAnswer }: Reading): Value | null {
  const words = wordsOf(text).slice(0, 400);
  const saysNo = (among: readonly string[]) => among.some((word) => NO_WORDS.has(word));
  if (isAnswer) {
    const isYes = words.some((word) => YES_WORDS.has(word));
    return isYes === saysNo(words) ? null : { value: isYes, at: null };
  }
  const name = contentTerms(splitName(nameOf(argument)));
  const said = words.map(stem);
  if (name.length === 0 || !name.every((term) => said.includes(term))) return null;
  const at = said.findIndex((word) => name.includes(word));
  return { value: !saysNo(words.slice(Math.max(0, at - 4), at)), at: null };
}

// ---- Numbers

const ONE = wordSet('one un uno una um uma');

function readNumber(reading: Reading): Value | null {
  const { argument, language, isAnswer, onlyNamed, isFree } = reading;
  const { schema, required } = argument;
  const isInteger = typeOf(schema) === 'integer';
  const text = withoutAddresses(withoutDates(reading));
  const numbers = numbersIn(text, language, isInteger).filter(
    ({ value, at }) => isFree(at) && fits(value, schema, isInteger),
  );
  if (isAnswer)
    return (
      numbers[0] ??
      (ONE.has(wordsOf(text).join(' ')) && fits(1, schema, isInteger)
        ? { value: 1, at: null }
        : null)
    );
  const named = namedFirst(numbers, text, argument);
  if (named !== null || onlyNamed || !required) return named;
  return numbers.length === 1 ? numbers[0]! : null;
}

function fits(value: number, schema: JsonObject, isInteger: boolean): boolean {
  const limit = (key: string) => number(schema, key);
  const step = limit('multipleOf');
  return (
    (!isInteger || Number.isSafeInteger(value)) &&
    value >= (limit('minimum') ?? -Infinity) &&
    value <= (limit('maximum') ?? Infinity) &&
    value > (limit('exclusiveMinimum') ?? -Infinity) &&
    value < (limit('exclusiveMaximum') ?? Infinity) &&
    (step === null || Math.abs(value / step - Math.round(value / step)) < 1e-9)
  );
}

const AROUND_CHARACTERS = 48;

/** Puts items first that have a word of the argument's name after ("4 people") or before ("people: 4"). */
function namedFirst<Item extends Found<unknown>>(
  found: readonly Item[],
  text: string,
  argument: Argument,
): Item | null {
  const name = new Set(contentTerms(splitName(nameOf(argument))));
  const isName = (word: string | undefined) => word !== undefined && name.has(stem(word));
  const after = ({ at, length }: Item) =>
    wordsOf(text.slice(at + length, at + length + AROUND_CHARACTERS).split(/[,;.!?\n]/)[0]!)[0];
  const before = ({ at }: Item) =>
    wordsOf(
      text
        .slice(Math.max(0, at - AROUND_CHARACTERS), at)
        .split(/[,;!?\n]|\d/)
        .at(-1)!,
    ).slice(-3);
  return (
    found.find((item) => isName(after(item))) ??
    found.find((item) => before(item).some(isName)) ??
    null
  );
}

// ---- Texts

const EMAIL =
  /(?<![\p{L}\p{N}.!#$%&'*+/=?^_`{|}~•-])[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?![\p{L}\p{N}•])/giu;
const ADDRESS = /(?<![\p{L}\p{N}])https?:\/\/[^\s<>"']{1,2000}/giu;
const UUID =
  /(?<![\p{L}\p{N}-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\p{L}\p{N}-])/giu;
const PHONE = /(?<![\p{L}\p{N}+])\+?\(?\d[\d ().-]{5,18}\d(?![\p{L}\p{N}])/giu;
const CODE =
  /(?<![\p{L}\p{N}])#?[\p{L}\p{N}](?:[\p{L}\p{N}._/-]{0,62}[\p{L}\p{N}])?(?![\p{L}\p{N}])/gu;

/** The customer's own e-mail and phone, masked. The service puts in the real one for the call. */
const MASKED_EMAIL =
  /(?<![\p{L}\p{N}•@])[^\s@•,;:<>()"']?•{1,8}@[^\s@•,;:<>()"']?•{1,8}(?:\.[\p{L}\p{N}-]{1,63})?(?![\p{L}\p{N}•@])/gu;
const MASKED_PHONE = /(?<![\p{L}\p{N}•+])\+\d{0,3}•{1,20}(?:\d{2})?(?![\p{L}\p{N}•])/gu;

const MAX_FINDS = 50;

const matched = (text: string, pattern: RegExp): readonly Found<string>[] =>
  [...text.matchAll(pattern)]
    .slice(0, MAX_FINDS)
    .map((match) => ({ value: match[0], at: match.index, length: match[0].length }));

const blank = (text: string, found: readonly Found<unknown>[]) =>
  found.reduce(
    (rest, { at, length }) => rest.slice(0, at) + ' '.repeat(length) + rest.slice(at + length),
    text,
  );

/** Blanks out dates and times, whose digits are no number and no code. Places in the text stay. */
const withoutDates = ({ text, dates }: Reading) =>
  blank(text, [...dates().dates, ...dates().times]);
const withoutAddresses = (text: string) =>
  [ADDRESS, EMAIL, MASKED_EMAIL, MASKED_PHONE].reduce(
    (rest, pattern) => rest.replace(pattern, (match) => ' '.repeat(match.length)),
    text,
  );

type Kind =
  | 'email'
  | 'uri'
  | 'uuid'
  | 'date'
  | 'date-time'
  | 'time'
  | 'clock'
  | 'phone'
  | 'text'
  | 'code'
  | 'other';

const KINDS_BY_FORMAT: Readonly<Record<string, Kind>> = {
  email: 'email',
  'idn-email': 'email',
  uri: 'uri',
  url: 'uri',
  iri: 'uri',
  uuid: 'uuid',
  date: 'date',
  'date-time': 'date-time',
  time: 'time',
};

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
  const format = KINDS_BY_FORMAT[textOf(argument.schema, 'format') ?? ''];
  if (format !== undefined) return format;
  const name = wordsOf(splitName(nameOf(argument)));
  return KINDS_BY_NAME.find(([, words]) => name.some((word) => words.has(word)))?.[0] ?? 'other';
}

/** Whether the customer's whole message is the value. */
export const isFreeText = (argument: Argument): boolean =>
  typeOf(argument.schema) === 'string' &&
  !['enum', 'const', 'pattern'].some((key) => Object.hasOwn(argument.schema, key)) &&
  kindOf(argument) === 'text';

function readString(reading: Reading): Value | null {
  const { schema } = reading.argument;
  const kind = kindOf(reading.argument);
  const masked = maskedIn(kind, reading);
  if (masked !== null) return masked;
  const pattern = textOf(schema, 'pattern');
  const found = (pattern === null ? null : matchesOf(pattern, reading)) ?? READERS[kind](reading);
  const fitting = found.find(
    ({ value, at }) =>
      hasFittingLength(String(value), schema) && (at === null || reading.isFree(at)),
  );
  return fitting ?? null;
}

/**
 * Reads a masked e-mail or phone. The schema's pattern, format and length apply to the real value, so
 * they are not checked here. A detail in the clear before it comes first.
 */
function maskedIn(kind: Kind, { text, isFree }: Reading): Value | null {
  if (kind !== 'email' && kind !== 'phone') return null;
  const [mask, clear] = kind === 'email' ? [MASKED_EMAIL, EMAIL] : [MASKED_PHONE, PHONE];
  const first = matched(text, mask).find(({ at }) => isFree(at));
  return first === undefined || matched(text.slice(0, first.at), clear).length > 0 ? null : first;
}

/** What matches the pattern as written, else in capitals. Null for a pattern that RE2 lacks. */
function matchesOf(pattern: string, { argument, text, work }: Reading): readonly Value[] | null {
  const whole = patternFinder(pattern, work);
  const inside = patternFinder(pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, ''), work);
  if (whole === null || inside === null) return null;
  const read = withoutMasks(text);
  const find = (within: string) =>
    inside
      .find(within, MAX_FINDS)
      .filter(
        ({ value, at }) =>
          value.trim() !== '' && standsAlone(within, at, value.length) && whole.test(value),
      );
  const written = find(read);
  const found = written.length > 0 ? written : find(read.toUpperCase());
  return argument.required
    ? found
    : found.filter(({ value }) => /\d/.test(value) && !/\s/.test(value));
}

const withoutMasks = (text: string) =>
  [MASKED_EMAIL, MASKED_PHONE].reduce(
    (rest, pattern) => rest.replace(pattern, (match) => ' '.repeat(match.length)),
    text,
  );

/** `AB12` in `XAB123` is no match for `^[A-Z]{2}\d{2}$`. */
function standsAlone(text: string, at: number, length: number): boolean {
  const isJoined = (place: number) =>
    /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, place - 2), place)) &&
    /^[\p{L}\p{N}]/u.test(text.slice(place, place + 2));
  return !isJoined(at) && !isJoined(at + length);
}

const hasFittingLength = (value: string, schema: JsonObject) => {
  const length = [...value].length;
  return (
    length >= (number(schema, 'minLength') ?? 1) &&
    length <= (number(schema, 'maxLength') ?? Infinity)
  );
};

const READERS: Readonly<Record<Kind, (reading: Reading) => readonly Value[]>> = {
  email: ({ text }) => matched(text, EMAIL),
  uri: ({ text }) =>
    matched(text, ADDRESS)
      .map(({ value, at }) => ({ value: value.replace(/[.,;:!?)\]]+$/, ''), at }))
      .filter(({ value }) => URL.canParse(value)),
  uuid: ({ text }) => matched(text, UUID),
  date: ({ dates }) => dates().dates,
  'date-time': ({ dates }) => dates().moments,
  time: ({ dates, now }) =>
    dates().times.map(({ value, at }) => ({ value: value + offsetAt(now), at })),
  clock: ({ dates }) => dates().times.map(({ value, at }) => ({ value: value.slice(0, 5), at })),
  phone: (reading) =>
    matched(withoutAddresses(withoutDates(reading)), PHONE).map(({ value, at }) => ({
      value: value.replace(/(?!^\+)\D/g, ''),
      at,
    })),
  text: (reading) => (reading.argument.required ? wholeText(reading) : []),
  code: codesIn,
  other: (reading) => (reading.isAnswer ? wholeText(reading) : codesIn(reading)),
};

/** The customer's whole text, cut to the length that the schema allows. */
function wholeText({ text, argument }: Reading): readonly Value[] {
  const characters = [...text.trim()];
  const length = number(argument.schema, 'maxLength') ?? characters.length;
  return [{ value: characters.slice(0, length).join('').trimEnd(), at: null }];
}

/**
 * The words that look like a code, which has a digit. Those beside the argument's name come first, then
 * those with letters, then those of three digits or more.
 */
function codesIn(reading: Reading): readonly Value[] {
  const { argument, isAnswer, onlyNamed, isFree } = reading;
  const text = withoutAddresses(withoutDates(reading));
  const codes = matched(text, CODE).filter(({ value, at }) => /\d/.test(value) && isFree(at));
  const marked = codes.filter(({ value }) => value.startsWith('#'));
  const named = marked[0] ?? namedFirst(codes, text, argument);
  const others =
    onlyNamed || !argument.required
      ? []
      : [
          ...codes.filter(({ value }) => /\p{L}/u.test(value)),
          ...codes.filter(({ value }) => isAnswer || value.length >= 3),
        ];
  return [...(named ? [named] : []), ...others].map(({ value, at }) => ({
    value: value.replace(/^#/, ''),
    at,
  }));
}
