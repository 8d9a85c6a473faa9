import type { Language } from '../agentModel.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { PatternWork } from '../../domain/linearPattern.ts';
import { splitName, stem, wordSet, wordsOf } from '../words.ts';
import { datesIn, dateTimesIn, offsetAt, timesIn, withoutDates, type Found } from './dates.ts';
import { numbersIn } from './numbers.ts';
import { matchesIn } from './patterns.ts';
import { contentTerms } from './ranking.ts';
import { list, nameOf, number, own, text as textOf, typeOf, type Argument } from './schema.ts';

/** One look at one text for one argument. */
export interface Reading {
  readonly argument: Argument;
  /** In NFC. */
  readonly text: string;
  readonly language: Language;
  readonly now: Date;
  /** The text answers the question for this argument: it may be the value as it stands. */
  readonly isAnswer: boolean;
  /** Takes a number or a code only beside a word of the argument's name. */
  readonly onlyNamed: boolean;
  /** Whether what stands at this place is not the value of another argument already. */
  readonly isFree: (at: number) => boolean;
  /** What reading may still cost in this turn. */
  readonly work: PatternWork;
}

/**
 * What one look at a character costs, in the unit of `work`: all expressions of a format go over
 * it.
 */
const WORK_TO_READ = 16;

/** `at`: where the value stands, when no other argument may take it too. */
export interface Value {
  readonly value: Json;
  readonly at: number | null;
}

/**
 * The value that a text has for an argument; null when it has none, or several that could be meant.
 * @throws PatternBudgetError when the turn has read enough
 */
export function readValue(reading: Reading): Value | null {
  const { schema } = reading.argument;
  reading.work.spend(WORK_TO_READ * reading.text.length, 'Reading');
  if (Object.hasOwn(schema, 'const'))
    return reading.argument.required ? { value: schema.const!, at: null } : null;
  const options = list(schema, 'enum');
  if (options !== null) return oneOption(options, reading);
  switch (typeOf(schema)) {
    case 'boolean':
      return readBoolean(reading);
    case 'integer':
    case 'number':
      return readNumber(reading);
    case 'array':
      return readArray(reading);
    case 'null':
      return { value: null, at: null };
    case 'object':
      return null;
    default:
      return readString(reading);
  }
}

/** Whether asking the customer can bring a value at all. */
export const canBeAsked = ({ schema }: Argument): boolean =>
  typeOf(schema) !== 'object' || Object.hasOwn(schema, 'enum');

// ---- Options

function oneOption(options: readonly Json[], reading: Reading): Value | null {
  if (options.length === 1 && reading.argument.required) return { value: options[0]!, at: null };
  const mentioned = optionsIn(options, reading.text);
  return mentioned.length === 1 ? { value: mentioned[0]!, at: null } : null;
}

const MAX_OPTIONS = 200;

/**
 * The options that a text names, in the order of the text. A longer name hides the shorter ones
 * inside it.
 */
function optionsIn(options: readonly Json[], text: string): readonly Json[] {
  const words = ` ${wordsOf(text).map(stem).join(' ')} `;
  const named = options
    .slice(0, MAX_OPTIONS)
    .filter((option) => typeof option === 'string' || typeof option === 'number')
    .map((option) => ({
      option,
      words: ` ${wordsOf(splitName(String(option)))
        .map(stem)
        .join(' ')} `,
    }))
    .filter((each) => each.words.trim() !== '' && words.includes(each.words));
  return named
    .filter(
      (each) =>
        !named.some(
          (other) => other.words.length > each.words.length && other.words.includes(each.words),
        ),
    )
    .sort((a, b) => words.indexOf(a.words) - words.indexOf(b.words))
    .map(({ option }) => option);
}

function readArray(reading: Reading): Value | null {
  const items = own(reading.argument.schema, 'items');
  const options = isJsonObject(items) ? list(items, 'enum') : null;
  const values = options === null ? plainItems(items, reading) : optionsIn(options, reading.text);
  const kept = values.slice(0, number(reading.argument.schema, 'maxItems') ?? values.length);
  return kept.length > 0 && kept.length >= (number(reading.argument.schema, 'minItems') ?? 0)
    ? { value: kept, at: null }
    : null;
}

/** Without options, a list is what the customer answers when asked for it. */
function plainItems(
  items: Json | undefined,
  { text, isAnswer, language }: Reading,
): readonly Json[] {
  const type = isJsonObject(items) ? typeOf(items) : 'string';
  if (!isAnswer) return [];
  if (type === 'integer' || type === 'number')
    return numbersIn(withoutDates(text), language, type === 'integer').map(({ value }) => value);
  return type === 'string'
    ? text
        .split(/[,;\n]| (?:and|y|e) /)
        .map((part) => part.trim())
        .filter((part) => part !== '')
    : [];
}

// ---- Yes and no

const YES_WORDS = wordSet(
  'yes yeah yep yup sure ok okay true si sim claro dale vale positivo quiero quero afirmativo correct correcto certo with con com',
);
const NO_WORDS = wordSet('no nope not dont false nao negativo never nunca without sin sem tampoco');
const NOT_WORDS = wordSet('no not dont without sin sem nao never nunca');

function readBoolean({ argument, text, isAnswer }: Reading): Value | null {
  const words = wordsOf(text).slice(0, 400);
  if (isAnswer) {
    const [yes, no] = [
      words.some((word) => YES_WORDS.has(word)),
      words.some((word) => NO_WORDS.has(word)),
    ];
    return yes === no ? null : { value: yes, at: null };
  }
  const name = contentTerms(splitName(nameOf(argument)));
  const at = words.findIndex((word) => contentTerms(word).some((term) => name.includes(term)));
  if (
    name.length === 0 ||
    at === -1 ||
    !name.every((term) => contentTerms(words.join(' ')).includes(term))
  )
    return null;
  return {
    value: !words.slice(Math.max(0, at - 4), at).some((word) => NOT_WORDS.has(word)),
    at: null,
  };
}

// ---- Numbers

function readNumber({
  argument,
  text,
  language,
  isAnswer,
  onlyNamed,
  isFree,
}: Reading): Value | null {
  const isInteger = typeOf(argument.schema) === 'integer';
  const readable = withoutAddresses(withoutDates(text));
  const fitting = numbersIn(readable, language, isInteger).filter(
    ({ value, at }) => isFree(at) && fits(value, argument.schema, isInteger),
  );
  if (isAnswer) return fitting[0] ?? null;
  const named = nearestNamed(fitting, readable, argument);
  if (named !== null || onlyNamed || !argument.required) return named;
  return fitting.length === 1 ? fitting[0]! : null;
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

const AROUND = 48;

/**
 * What has a word of the argument's name beside it: right after it ("4 people"), else up to three
 * words before ("people: 4").
 */
function nearestNamed<Item extends Found<unknown>>(
  found: readonly Item[],
  text: string,
  argument: Argument,
): Item | null {
  const name = contentTerms(splitName(nameOf(argument)));
  const description = contentTerms((textOf(argument.schema, 'description') ?? '').slice(0, 300));
  const says = (words: readonly string[], terms: readonly string[]) =>
    words.some((word) => contentTerms(word).some((term) => terms.includes(term)));
  const after = ({ at }: Item) =>
    wordsOf(
      text
        .slice(at, at + AROUND)
        .replace(/^\S+/, '')
        .split(/[,;.!?\n]/)[0]!,
    ).slice(0, 1);
  const before = ({ at }: Item) =>
    wordsOf(
      text
        .slice(Math.max(0, at - AROUND), at)
        .split(/[,;!?\n]|\d/)
        .at(-1)!,
    ).slice(-3);
  for (const terms of [name, description]) {
    const match =
      found.find((item) => says(after(item), terms)) ??
      found.find((item) => says(before(item), terms));
    if (match !== undefined) return match;
  }
  return null;
}

// ---- Strings

const EMAIL =
  /(?<![\p{L}\p{N}.!#$%&'*+/=?^_`{|}~•-])[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?![\p{L}\p{N}•])/giu;
const URL_IN_TEXT = /(?<![\p{L}\p{N}])https?:\/\/[^\s<>"']{1,2000}/giu;
const UUID =
  /(?<![\p{L}\p{N}-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\p{L}\p{N}-])/giu;
const PHONE = /(?<![\p{L}\p{N}+])\+?\(?\d[\d ().-]{5,18}\d(?![\p{L}\p{N}])/giu;

/**
 * The customer's own address and number, as they are shown here: whoever makes the call knows what
 * they stand for.
 */
const MASKED_EMAIL =
  /(?<![\p{L}\p{N}•@])[^\s@•,;:<>()"']?•{1,8}@[^\s@•,;:<>()"']?•{1,8}(?:\.[\p{L}\p{N}-]{1,63})?(?![\p{L}\p{N}•@])/gu;
const MASKED_PHONE = /(?<![\p{L}\p{N}•+])\+\d{0,3}•{1,20}(?:\d{2})?(?![\p{L}\p{N}•])/gu;

/** An address has digits and dots that are no number and no code. */
const withoutAddresses = (text: string) =>
  blanked(text, URL_IN_TEXT, EMAIL, MASKED_EMAIL, MASKED_PHONE);

const blanked = (text: string, ...patterns: readonly RegExp[]) =>
  patterns.reduce(
    (rest, pattern) => rest.replace(pattern, (match) => ' '.repeat(match.length)),
    text,
  );

function readString(reading: Reading): Value | null {
  const { schema } = reading.argument;
  const pattern = textOf(schema, 'pattern');
  const kind = kindOf(reading.argument);
  const masked = maskedIn(kind, reading);
  if (masked !== null) return masked;
  const matches = pattern === null ? null : matchesOf(pattern, reading);
  const found = matches ?? FORMATS[kind](reading);
  return (
    found.find(
      ({ value, at }) =>
        hasFittingLength(String(value), schema) && (at === null || reading.isFree(at)),
    ) ?? null
  );
}

/**
 * A pattern, a format and a length are about the value that is masked, so they say nothing about
 * the mask. A detail in the clear before it comes first.
 */
function maskedIn(kind: Kind, { text, isFree }: Reading): Value | null {
  if (kind !== 'email' && kind !== 'phone') return null;
  const [first] = matched(text, kind === 'email' ? MASKED_EMAIL : MASKED_PHONE).filter(({ at }) =>
    isFree(at),
  );
  if (first === undefined) return null;
  const isClearFirst =
    matched(text.slice(0, first.at), kind === 'email' ? EMAIL : PHONE).length > 0;
  return isClearFirst ? null : first;
}

/**
 * The pattern's matches as written, else in capitals; for an optional argument, only what stands
 * out as a code.
 */
function matchesOf(
  pattern: string,
  { argument, text: original, work }: Reading,
): readonly Value[] | null {
  const text = blanked(original, MASKED_EMAIL, MASKED_PHONE);
  const written = matchesIn(text, pattern, work);
  if (written === null) return null;
  const found = written.length > 0 ? written : (matchesIn(text.toUpperCase(), pattern, work) ?? []);
  return argument.required
    ? found
    : found.filter(({ value }) => /\d/.test(value) && !/\s/.test(value));
}

const hasFittingLength = (value: string, schema: JsonObject) => {
  const length = [...value].length;
  return (
    length >= (number(schema, 'minLength') ?? 1) &&
    length <= (number(schema, 'maxLength') ?? Infinity)
  );
};

type Kind =
  | 'email'
  | 'uri'
  | 'uuid'
  | 'date'
  | 'date-time'
  | 'time'
  | 'clock'
  | 'phone'
  | 'freeText'
  | 'code'
  | 'codeOrText'
  | 'personName'
  | 'text';

const KNOWN_FORMATS: ReadonlyMap<string, Kind> = new Map([
  ['email', 'email'],
  ['idn-email', 'email'],
  ['uri', 'uri'],
  ['url', 'uri'],
  ['iri', 'uri'],
  ['uuid', 'uuid'],
  ['date', 'date'],
  ['date-time', 'date-time'],
  ['time', 'time'],
]);

const EMAIL_NAME = wordSet('email mail correo');
const URL_NAME = wordSet('url link website');
const DATE_NAME = wordSet('date fecha');
const CLOCK_NAME = wordSet('time hora');
const PHONE_NAME = wordSet(
  'phone telephone telefono telefone celular mobile movil cell cellphone whatsapp',
);
const NUMBER_NAME = wordSet('number num no nro numero');
const FREE_NAME = wordSet(
  'query question text message msg reason comment comments details detail search description issue problem note notes content prompt input body feedback request topic subject pregunta consulta mensaje motivo detalle descripcion comentario pergunta mensagem duvida descricao',
);
const CODE_NAME = wordSet(
  'code id number no num nro numero tracking reference ref referencia codigo folio guia ticket sku order pedido orden invoice factura fatura booking protocolo cpf cnpj dni rut',
);
const PERSON_NAME = wordSet('name nombre nome');
const FREE_DESCRIPTION = wordSet(
  'question message reason query pregunta mensaje motivo pergunta mensagem text texto words',
);
const CODE_DESCRIPTION = wordSet('code id number codigo numero tracking folio');

/**
 * What kind of text an argument wants: by its format, else by its name, else by its description.
 */
function kindOf(argument: Argument): Kind {
  const format = KNOWN_FORMATS.get(textOf(argument.schema, 'format') ?? '');
  if (format !== undefined) return format;
  const name = wordsOf(splitName(nameOf(argument)));
  const named = (words: ReadonlySet<string>) => name.some((word) => words.has(word));
  if (named(EMAIL_NAME)) return 'email';
  if (named(URL_NAME)) return 'uri';
  if (named(PHONE_NAME)) return 'phone';
  if (named(DATE_NAME)) return 'date';
  if (named(CLOCK_NAME)) return 'clock';
  if (named(FREE_NAME)) return 'freeText';
  const description = wordsOf((textOf(argument.schema, 'description') ?? '').slice(0, 300));
  const described = (words: ReadonlySet<string>) => description.some((word) => words.has(word));
  if (described(PHONE_NAME) && named(NUMBER_NAME)) return 'phone';
  if (named(CODE_NAME)) return 'code';
  if (named(PERSON_NAME)) return 'personName';
  if (described(FREE_DESCRIPTION)) return 'freeText';
  if (described(EMAIL_NAME)) return 'email';
  if (described(PHONE_NAME)) return 'phone';
  return described(CODE_DESCRIPTION) ? 'codeOrText' : 'text';
}

/** Whether the customer's whole message is the value, whatever it says. */
export const isFreeText = (argument: Argument): boolean =>
  typeOf(argument.schema) === 'string' &&
  !['enum', 'const', 'pattern'].some((key) => Object.hasOwn(argument.schema, key)) &&
  kindOf(argument) === 'freeText';

const FORMATS: Readonly<Record<Kind, (reading: Reading) => readonly Value[]>> = {
  email: ({ text }) => matched(text, EMAIL),
  uri: ({ text }) =>
    matched(text, URL_IN_TEXT)
      .map(({ value, at }) => ({ value: value.replace(/[.,;:!?)\]]+$/, ''), at }))
      .filter(({ value }) => URL.canParse(value)),
  uuid: ({ text }) => matched(text, UUID),
  date: ({ text, language, now }) => datesIn(text, language, now),
  'date-time': ({ text, language, now }) => dateTimesIn(text, language, now),
  time: ({ text, now }) =>
    timesIn(text).map(({ value, at }) => ({ value: value + offsetAt(now), at })),
  clock: ({ text }) => timesIn(text).map(({ value, at }) => ({ value: value.slice(0, 5), at })),
  phone: ({ text }) =>
    matched(withoutAddresses(withoutDates(text)), PHONE).map(({ value, at }) => ({
      value: value.replace(/(?!^\+)\D/g, ''),
      at,
    })),
  freeText: (reading) => (reading.argument.required ? wholeText(reading) : []),
  code: codesIn,
  codeOrText: (reading) => [...codesIn(reading), ...(reading.isAnswer ? wholeText(reading) : [])],
  personName: nameIn,
  text: (reading) => (reading.isAnswer ? wholeText(reading) : []),
};

const matched = (text: string, pattern: RegExp): readonly Found<string>[] =>
  [...text.matchAll(pattern)].slice(0, 50).map((match) => ({ value: match[0], at: match.index }));

/** The customer's words as they stand, cut to what the schema allows. */
function wholeText({ text, argument }: Reading): readonly Value[] {
  const characters = [...text.trim()];
  return [
    {
      value: characters
        .slice(0, number(argument.schema, 'maxLength') ?? characters.length)
        .join('')
        .trimEnd(),
      at: null,
    },
  ];
}

const CODE =
  /(?<![\p{L}\p{N}])#?[\p{L}\p{N}](?:[\p{L}\p{N}._/-]{0,62}[\p{L}\p{N}])?(?![\p{L}\p{N}])/gu;

/**
 * What looks like a code has a digit. Beside the argument's name first, then with letters, then any
 * of three digits or more.
 */
function codesIn({ argument, text, isAnswer, onlyNamed, isFree }: Reading): readonly Value[] {
  const readable = withoutAddresses(withoutDates(text));
  const codes = [...readable.matchAll(CODE)]
    .map((match) => ({ value: match[0], at: match.index }))
    .filter(({ value, at }) => /\d/.test(value) && isFree(at))
    .slice(0, 50);
  const named =
    codes.find(({ value }) => value.startsWith('#')) ?? nearestNamed(codes, readable, argument);
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

const INTRODUCTION =
  /(?<![\p{L}\p{N}])(?:my name is|the name is|i am called|me llamo|mi nombre es|a nombre de|meu nome [ée]|me chamo|em nome de)[ :]+([\p{L}'’.-]{1,40}(?: \p{Lu}[\p{L}'’.-]{0,40}){0,3})/iu;

function nameIn(reading: Reading): readonly Value[] {
  const introduced = INTRODUCTION.exec(reading.text);
  if (introduced !== null) return [{ value: introduced[1]!.replace(/[.-]+$/, ''), at: null }];
  return reading.isAnswer ? wholeText(reading) : [];
}
