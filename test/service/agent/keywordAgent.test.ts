import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type {
  AgentTool,
  HistoryItem,
  Language,
  PastToolCall,
  Step,
  Turn,
} from '../../../service/src/agent/agentModel.ts';
import { createKeywordAgent } from '../../../service/src/agent/keyword/keywordAgent.ts';
import { sentence } from '../../../service/src/agent/keyword/sentences.ts';
import type { JsonObject } from '../../../service/src/platform/json.ts';

/** A Saturday, ten in the morning where the machine is. */
const NOW = new Date(2026, 10, 21, 10, 0);
const agent = createKeywordAgent(() => NOW);
const ajv = new Ajv2020({ strict: false });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

const schema = (
  properties: JsonObject,
  required = Object.keys(properties),
  more: JsonObject = {},
): JsonObject => ({ type: 'object', properties, required, ...more });
const tool = (
  name: string,
  description: string,
  parameters: JsonObject = schema({}),
  ...examplePhrases: readonly string[]
): AgentTool => ({ name, description, parameters, readOnly: true, examplePhrases });
/** A tool that changes something. */
const acting = (...made: Parameters<typeof tool>): AgentTool => ({
  ...tool(...made),
  readOnly: false,
});

const ORDER_ID = { order_id: { type: 'string', description: 'Order number' } };
const TRACK = tool(
  'track_order',
  'Status and delivery date of an order',
  schema(ORDER_ID),
  'where is my order',
  'dónde está mi pedido',
  'onde está meu pedido',
);
const CANCEL = acting(
  'cancel_order',
  'Cancels an order',
  schema({ ...ORDER_ID, reason: { type: 'string' } }, ['order_id']),
  'quiero cancelar mi pedido',
  'quero cancelar meu pedido',
);
const BOOK = acting(
  'book_table',
  'Books a table at the restaurant',
  schema({
    date: { type: 'string', format: 'date' },
    time: { type: 'string', format: 'time' },
    people: { type: 'integer', minimum: 1, maximum: 20, description: 'How many people' },
  }),
  'reservar una mesa',
);
const HOURS = tool(
  'opening_hours',
  'Opening hours of the shop',
  { type: 'object' },
  'qué horarios tienen',
);
const FAQ = tool(
  'ask_faq',
  'Answers general questions',
  schema({ question: { type: 'string', maxLength: 40 } }),
);
const TOOLS = [TRACK, CANCEL, BOOK, HOURS];

const customer = (text: string): HistoryItem => ({ type: 'customer', text });
const said = (text: string): HistoryItem => ({ type: 'reply', from: 'agent', text });
const beside = (text: string): HistoryItem => ({
  type: 'reply',
  from: 'team',
  text,
  isBesideAgent: true,
});
const call = (
  status: PastToolCall['status'],
  outcome = '',
  more: Partial<PastToolCall> = {},
): PastToolCall => ({ id: 'call_1', tool: 'track_order', arguments: {}, status, outcome, ...more });
const calls = (...made: PastToolCall[]): HistoryItem => ({ type: 'tool_calls', calls: made });
const late = (ended: PastToolCall): HistoryItem => ({ type: 'late_result', call: ended });

interface Setting {
  readonly tools?: readonly AgentTool[];
  readonly language?: Language;
  readonly mayCallTools?: boolean;
}

async function next(
  history: readonly (HistoryItem | string)[],
  { tools = TOOLS, language = 'en', mayCallTools = true }: Setting = {},
): Promise<Step> {
  const turn: Turn = {
    agent: { name: 'Agent', instructions: '', languages: [language] },
    language,
    tools,
    mayCallTools,
    history: history.map((item) => (typeof item === 'string' ? customer(item) : item)),
  };
  const start = performance.now();
  const step = await agent.next(turn, new AbortController().signal);
  expect(performance.now() - start).toBeLessThan(10_000);
  return step;
}

const callOf = (name: string, args: JsonObject): Step => ({
  type: 'tool_calls',
  calls: [{ tool: name, arguments: args }],
});
const reply = (text: string): Step => ({ type: 'reply', text });
const ask = (what: string, language: Language = 'en') =>
  reply(sentence('askForArgument', language, { what }));
const UNKNOWN: Step = { type: 'hand_over', reason: 'missing_knowledge', text: null };
const confirm = (action: string, language: Language = 'en') =>
  reply(sentence('confirmCall', language, { action }));
const confirming = (action: string, language: Language = 'en') =>
  said(sentence('confirmCall', language, { action }));
/** Of the machine's time zone. */
const OFFSET =
  new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' }).format(NOW).split('GMT')[1] ||
  '+00:00';
const asking = (language: Language = 'en') =>
  said(sentence('askForArgument', language, { what: 'Order number' }));

/** The value that a tool with one argument is called with; undefined when it is not called. */
async function filled(
  argument: JsonObject,
  message: string,
  { name = 'value', language = 'en' as Language, required = true } = {},
): Promise<unknown> {
  const lookup = tool('lookup', 'Looks up', schema({ [name]: argument }, required ? [name] : []));
  const step = await next([`lookup: ${message}`], { tools: [lookup], language });
  if (step.type !== 'tool_calls') return undefined;
  const args = step.calls[0]!.arguments as JsonObject;
  expect(ajv.validate(lookup.parameters, args)).toBe(true);
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

describe('choosing a tool', () => {
  it.each<[string, Language, Step]>([
    ['where is my order AB-123?', 'en', callOf('track_order', { order_id: 'AB-123' })],
    ['WHERE IS MY ORDER #4455', 'en', callOf('track_order', { order_id: '4455' })],
    [
      'Hi, I bought a jacket last week and want to know where my order 1234 is, it should have arrived',
      'en',
      callOf('track_order', { order_id: '1234' }),
    ],
    ['what are your opening hours?', 'en', callOf('opening_hours', {})],
    ['¿Dónde está mi pedido 9876?', 'es', callOf('track_order', { order_id: '9876' })],
    ['¿qué horarios tienen?', 'es', callOf('opening_hours', {})],
    ['onde está meu pedido 9876?', 'pt', callOf('track_order', { order_id: '9876' })],
    ['where is my order?', 'en', ask('Order number')],
    ['onde está meu pedido?', 'pt', ask('Order number', 'pt')],
    ['book a table for 4 people', 'en', ask('Date (2026-12-31)')],
  ])('%s', async (text, language, step) => expect(await next([text], { language })).toEqual(step));

  it.each(['do you sell bicycles?', 'my dog ate the charger', 'asdf qwer'])(
    'hands over when unsure: %s',
    async (text) => {
      expect(await next([text])).toEqual(UNKNOWN);
    },
  );

  it('hands over when two tools fit equally well, and takes the only read-only one of them', async () => {
    const north = tool('weather_north', 'Weather');
    const south = tool('weather_south', 'Weather');
    expect(await next(['weather please'], { tools: [north, south] })).toEqual(UNKNOWN);
    expect(
      await next(['weather please'], { tools: [{ ...north, readOnly: false }, south] }),
    ).toEqual(callOf('weather_south', {}));
  });

  it('knows a tool by its example phrases', async () => {
    const refunds = tool('policy_7', 'Policy', schema({}), 'can I get my money back');
    expect(await next(['Could I get my money back?'], { tools: [refunds, ...TOOLS] })).toEqual(
      callOf('policy_7', {}),
    );
  });

  it('gives what no tool fits to the one that answers questions', async () => {
    expect(await next(['do you sell bicycles?'], { tools: [...TOOLS, FAQ] })).toEqual(
      callOf('ask_faq', { question: 'do you sell bicycles?' }),
    );
    expect(
      await next(['do you sell very big and heavy bicycles with lights?'], { tools: [FAQ] }),
    ).toEqual(callOf('ask_faq', { question: 'do you sell very big and heavy bicycles' }));
  });

  it('gives no question to a tool that changes something', async () => {
    const forget = acting('forget', 'Forgets', schema({ question: { type: 'string' } }));
    expect(await next(['do you sell bicycles?'], { tools: [forget] })).toEqual(UNKNOWN);
  });

  it('never calls a tool when it may not', async () => {
    expect(await next(['where is my order AB-123?'], { mayCallTools: false })).toEqual(UNKNOWN);
    expect(await next(['where is my order?'], { mayCallTools: false })).toEqual(
      ask('Order number'),
    );
  });

  it('reads several messages in a row as one', async () =>
    expect(await next(['where is my order', 'it is AB-123'])).toEqual(
      callOf('track_order', { order_id: 'AB-123' }),
    ));

  it('hands over without history or tools', async () => {
    expect(await next([])).toEqual(UNKNOWN);
    expect(await next(['where is my order 1?'], { tools: [] })).toEqual(UNKNOWN);
    expect(await next(['hello', said('Hello!')])).toEqual(UNKNOWN);
  });
});

describe('a tool that is not read-only', () => {
  it.each<[string, Language, string, JsonObject]>([
    ['I want to cancel my order 4455', 'en', 'cancel order 4455', { order_id: '4455' }],
    ['quiero cancelar mi pedido 4455', 'es', 'cancel order 4455', { order_id: '4455' }],
    ['quero cancelar meu pedido 12345', 'pt', 'cancel order 12345', { order_id: '12345' }],
    [
      'please book a table for 4 people on 2026-12-31 at 19:30',
      'en',
      `book table: date 2026-12-31, time 19:30:00${OFFSET}, people 4`,
      { date: '2026-12-31', time: `19:30:00${OFFSET}`, people: 4 },
    ],
  ])(
    'is repeated to the customer and called on a yes: %s',
    async (text, language, action, args) => {
      expect(await next([text], { language })).toEqual(confirm(action, language));
      const yes = { en: 'Yes, please.', es: 'sí', pt: 'sim, por favor' }[language];
      const name = action.startsWith('book') ? 'book_table' : 'cancel_order';
      expect(await next([text, confirming(action, language), yes], { language })).toEqual(
        callOf(name, args),
      );
    },
  );

  const asked = ['cancel order 4455', confirming('cancel order 4455')];

  it.each(['no', 'no, thanks', 'never mind', 'nope'])('is not called on: %s', async (text) => {
    expect(await next([...asked, text])).toEqual(reply(sentence('allRight', 'en')));
  });

  it.each(['maybe', 'yes, but is it free?', 'yes or no', 'what happens then?', 'yes I said no'])(
    'is not called on what is no plain yes: %s',
    async (text) => {
      expect(await next([...asked, text])).toEqual(UNKNOWN);
    },
  );

  it('is repeated again with what the customer corrected', async () => {
    expect(await next([...asked, 'no, 4456'])).toEqual(confirm('cancel order 4456'));
    expect(await next([...asked, 'no, 4456', confirming('cancel order 4456'), 'yes'])).toEqual(
      callOf('cancel_order', { order_id: '4456' }),
    );
  });

  it('is repeated when the answer may mean yes or no', async () => {
    expect(await next([...asked, 'cancel'])).toEqual(confirm('cancel order 4455'));
    expect(await next([...asked, 'cancel order'])).toEqual(confirm('cancel order 4455'));
  });

  it('makes way for another request', async () => {
    expect(await next([...asked, 'where is my order 77?'])).toEqual(
      callOf('track_order', { order_id: '77' }),
    );
  });

  it('is called with what was repeated, or not at all', async () => {
    // Somebody else changed the tool, or said yes for the customer.
    expect(await next(['cancel order 4455', confirming('cancel order 1'), 'yes'])).toEqual(
      confirm('cancel order 4455'),
    );
    expect(await next([...asked, 'yes'], { tools: [TRACK] })).toEqual(UNKNOWN);
    expect(
      await next([
        'cancel order 4455',
        {
          type: 'reply',
          from: 'team',
          text: sentence('confirmCall', 'en', { action: 'cancel order 4455' }),
        },
        'yes',
      ]),
    ).not.toHaveProperty('calls');
    expect(await next(['yes'])).not.toHaveProperty('calls');
    expect(
      await next([...asked, 'yes', calls(call('succeeded', '"Done"')), said('Done'), 'yes']),
    ).not.toHaveProperty('calls');
  });

  it('is called on a yes although it repeats words of our own question', async () => {
    const write = acting('write_ticket', 'Writes a ticket', schema({ subject: {} }));
    const words = 'write a ticket: Shall I restart the router?';
    const asked = said(sentence('confirmCall', 'en', { action: `write ticket ${words}` }));
    expect(await next([words, asked, 'yes'], { tools: [write] })).toEqual(
      callOf('write_ticket', { subject: words }),
    );
  });

  it('is repeated with a default that is an object', async () => {
    const options = { type: 'object', default: { notify: true } };
    const stop = acting('stop_plan', 'Stops a plan', schema({ ...ORDER_ID, options }));
    expect(await next(['stop plan 4455'], { tools: [stop] })).toEqual(
      confirm('stop plan: order id 4455, options {"notify":true}'),
    );
  });

  it('is told to the customer, whatever an automation sent in between', async () => {
    const found = calls(call('succeeded', '"Your order is on its way."'));
    expect(await next(['where is my order 77?', found, beside('News!'), 'hello'])).toEqual(
      await next(['where is my order 77?', found, 'hello']),
    );
  });

  it('is not called on a yes that may answer what an automation sent after it', async () => {
    expect(await next([...asked, beside('Shall we deliver tomorrow?'), 'yes'])).not.toHaveProperty(
      'calls',
    );
    // The customer had said yes before.
    const shipped = beside('Your parcel has shipped.');
    const twice = [shipped, beside('It arrives tomorrow.')];
    const expected = await next([...asked, 'yes', 'please']);
    expect(await next([...asked, 'yes', shipped, 'please'])).toEqual(expected);
    expect(await next([...asked, 'yes', ...twice, 'please'])).toEqual(expected);
  });

  it('is not called on a yes to the offer of a person after it', async () => {
    const offered = said(`${sentence('confirmCall', 'en', { action: 'cancel order 4455' })}

${sentence('toolFailed', 'en')}`);
    expect(await next(['cancel order 4455', offered, 'yes'])).not.toHaveProperty('calls');
  });

  it('is not asked about when it may not be called', async () => {
    expect(await next(['cancel order 4455'], { mayCallTools: false })).toEqual(UNKNOWN);
    expect(await next([...asked, 'yes'], { mayCallTools: false })).toEqual(UNKNOWN);
  });
});

describe('masked details', () => {
  const EMAIL = 'm••••@e••••••.com';
  const PHONE = '+54•••••••••34';

  it.each<[string, string, JsonObject, string, string | null]>([
    ['email', 'format', { format: 'email' }, `my mail is ${EMAIL}.`, EMAIL],
    [
      'correo',
      'name',
      { pattern: '^[a-z]+@[a-z.]+$', maxLength: 8 },
      `mi correo es ${EMAIL}`,
      EMAIL,
    ],
    [
      'email',
      'another one in the clear first',
      { format: 'email' },
      `bob@example.com, not ${EMAIL}`,
      'bob@example.com',
    ],
    ['email', 'only a phone', { format: 'email' }, PHONE, null],
    ['phone', 'name', { pattern: '^\\+?\\d{8,15}$' }, `call me at ${PHONE}, please`, PHONE],
    ['telefono', 'name', {}, `mi teléfono: ${PHONE}`, PHONE],
    ['celular', 'name', {}, PHONE, PHONE],
    ['telefone', 'name', {}, PHONE, PHONE],
    ['mobile', 'name', {}, PHONE, PHONE],
    ['phone', 'only an address', {}, EMAIL, null],
    ['order_number', 'is no code', {}, `it is ${PHONE}`, null],
    ['order_number', 'a code beside it', {}, `${PHONE} and order A-5`, 'A-5'],
    ['sku', 'is no match', { pattern: '\\d{2}' }, PHONE, null],
  ])('%s by %s', async (name, _, argument, text, value) => {
    const lookup = tool('lookup', 'Looks up', schema({ [name]: { type: 'string', ...argument } }));
    const step = await next([`lookup ${text}`], { tools: [lookup] });
    if (value === null) expect(step.type).toBe('reply');
    else expect(step).toEqual(callOf('lookup', { [name]: value }));
  });
});

describe('small talk', () => {
  it.each<[string, Language]>([
    ['hello', 'en'],
    ['Hi there!', 'en'],
    ['I need help', 'en'],
    ['hola', 'es'],
    ['Buenos días, necesito ayuda', 'es'],
    ['oi', 'pt'],
    ['olá, tudo bem?', 'pt'],
  ])('asks what is needed after: %s', async (text, language) =>
    expect(await next([text], { language })).toEqual(reply(sentence('howCanIHelp', language))),
  );

  it.each<[string, Language]>([
    ['thanks, bye', 'en'],
    ["that's all, thank you", 'en'],
    ['gracias, eso es todo', 'es'],
    ['chau', 'es'],
    ['obrigado, tchau', 'pt'],
    ['era só isso, obrigada', 'pt'],
  ])('says goodbye and closes after: %s', async (text, language) => {
    const close = {
      verdict: 'goal_reached',
      summary: 'The customer wrote "where is my order 1?", and track_order succeeded.',
    };
    expect(
      await next(['where is my order 1?', calls(call('succeeded', '"Here"')), said('Here'), text], {
        language,
      }),
    ).toEqual({ ...reply(sentence('farewell', language)), close });
    expect(await next([text], { language })).toMatchObject({
      close: {
        verdict: 'unknown',
        summary: 'The customer asked for nothing in particular, and no tool was called.',
      },
    });
  });

  it('closes on plain thanks once something was done, and not before', async () => {
    expect(
      await next(['order 1?', calls(call('succeeded')), said('Here'), 'thanks']),
    ).toHaveProperty('close');
    expect(await next(['thanks'])).toEqual(reply(sentence('youAreWelcome', 'en')));
  });

  it('does not close, and so cancel, while an approval is waited for', async () => {
    const waiting = [
      'cancel order 1',
      calls(call('pending_approval')),
      said(sentence('waitingForApproval', 'en')),
      'thanks, bye',
    ];
    expect(await next(waiting)).toEqual(reply(sentence('youAreWelcome', 'en')));
  });

  it('goes on after an offered person is declined', async () => {
    const offered = ['order 1?', calls(call('failed')), said(sentence('toolFailed', 'es'))];
    expect(await next([...offered, 'no, gracias'], { language: 'es' })).toEqual(
      reply(sentence('allRight', 'es')),
    );
  });
});

describe('filling arguments', () => {
  it.each<
    [
      string,
      JsonObject,
      string,
      unknown,
      { name?: string; language?: Language; required?: boolean }?,
    ]
  >([
    ['enum', { enum: ['small', 'extra_large'] }, 'the Extra Large one', 'extra_large'],
    ['enum, accents', { enum: ['Córdoba', 'Rosario'] }, 'en cordoba', 'Córdoba'],
    ['enum, several', { enum: ['red', 'blue'] }, 'red or blue', undefined],
    ['enum, longer name', { enum: ['large', 'extra large'] }, 'extra large', 'extra large'],
    ['enum of one', { enum: ['web'] }, '', 'web'],
    ['const', { const: 7 }, '', 7],
    [
      'array of enum',
      { type: 'array', items: { enum: ['red', 'blue', 'green'] } },
      'blue and red',
      ['blue', 'red'],
    ],
    ['boolean', { type: 'boolean' }, 'with gift wrap', true, { name: 'gift_wrap' }],
    [
      'boolean, not',
      { type: 'boolean' },
      'without gift wrap',
      false,
      { name: 'gift_wrap', required: false },
    ],
    ['integer', { type: 'integer' }, '12', 12],
    ['integer, thousands', { type: 'integer' }, '1.234', 1234],
    ['integer, no fraction', { type: 'integer' }, '12.5', undefined],
    ['integer, maximum', { type: 'integer', maximum: 10 }, '12', undefined],
    ['integer, two', { type: 'integer' }, '12 or 13', undefined],
    ['integer, in a code', { type: 'integer' }, 'AB12', undefined],
    ['integer, in words', { type: 'integer' }, 'for three', 3],
    ['number', { type: 'number' }, '1.234,50', 1234.5],
    ['number, en', { type: 'number' }, '1,234.50', 1234.5],
    ['number, en thousands', { type: 'number' }, '1,234', 1234],
    ['number, es decimal', { type: 'number' }, '1,234', 1.234, { language: 'es' }],
    ['number, negative', { type: 'number' }, 'minus: -5', -5],
    ['number, range is none', { type: 'number' }, '3-5', undefined],
    [
      'email',
      { type: 'string', format: 'email' },
      'write to ana.b+c@example.com.',
      'ana.b+c@example.com',
    ],
    [
      'uri',
      { type: 'string', format: 'uri' },
      'see https://example.com/a?b=1.',
      'https://example.com/a?b=1',
    ],
    [
      'uuid',
      { type: 'string', format: 'uuid' },
      '123e4567-e89b-42d3-a456-426614174000',
      '123e4567-e89b-42d3-a456-426614174000',
    ],
    ['date', { type: 'string', format: 'date' }, '2026-12-31', '2026-12-31'],
    ['date, day first', { type: 'string', format: 'date' }, '31/12/2026', '2026-12-31'],
    [
      'date, es',
      { type: 'string', format: 'date' },
      '03/04/2027',
      '2027-04-03',
      { language: 'es' },
    ],
    ['date, en ambiguous', { type: 'string', format: 'date' }, '03/04/2027', undefined],
    ['date, impossible', { type: 'string', format: 'date' }, '2026-02-31', undefined],
    ['date, tomorrow', { type: 'string', format: 'date' }, 'tomorrow', '2026-11-22'],
    [
      'date, mañana',
      { type: 'string', format: 'date' },
      'mañana por la mañana',
      '2026-11-22',
      { language: 'es' },
    ],
    [
      'date, la mañana',
      { type: 'string', format: 'date' },
      'por la mañana',
      undefined,
      { language: 'es' },
    ],
    [
      'date, amanhã',
      { type: 'string', format: 'date' },
      'depois de amanhã',
      '2026-11-23',
      { language: 'pt' },
    ],
    ['date, today', { type: 'string', format: 'date' }, 'today', '2026-11-21'],
    ['date, now', { type: 'string', format: 'date' }, 'now please', undefined],
    [
      'date, pasado mañana',
      { type: 'string', format: 'date' },
      'pasado mañana',
      '2026-11-23',
      { language: 'es' },
    ],
    ['time, no half of the day', { type: 'string', format: 'time' }, 'at 5', undefined],
    ['clock, pt', { type: 'string' }, 'às 15h30', '15:30', { name: 'hora', language: 'pt' }],
    [
      'date, month',
      { type: 'string', format: 'date' },
      '5 de enero',
      '2027-01-05',
      { language: 'es' },
    ],
    ['date, friday', { type: 'string', format: 'date' }, 'on Friday', '2026-11-27'],
    ['clock', { type: 'string' }, 'at 7pm', '19:00', { name: 'time' }],
    [
      'clock, es',
      { type: 'string' },
      'a las 8 de la noche',
      '20:00',
      { name: 'hora', language: 'es' },
    ],
    [
      'time, how long',
      { type: 'string', format: 'time' },
      'llevo 2 horas esperando',
      undefined,
      { language: 'es' },
    ],
    [
      'integer, not of how long',
      { type: 'integer' },
      'llevo 2 horas esperando',
      undefined,
      { name: 'people', language: 'es' },
    ],
    ['clock, horas', { type: 'string' }, 'às 9 horas', '09:00', { name: 'hora', language: 'pt' }],
    ['clock, alone', { type: 'string' }, '9h', '09:00', { name: 'hora', language: 'pt' }],
    ['clock, ás', { type: 'string' }, 'amanhã ás 9h', '09:00', { name: 'hora', language: 'pt' }],
    [
      'date at midnight',
      { type: 'string', format: 'date' },
      'el 5 de diciembre 12:30 de la noche',
      '2026-12-05',
      { language: 'es' },
    ],
    [
      'integer, not of midnight',
      { type: 'integer' },
      'mañana a las 12 de la noche',
      undefined,
      { name: 'people', language: 'es' },
    ],
    [
      'time, midnight',
      { type: 'string', format: 'time' },
      '12:30 de la noche',
      undefined,
      { language: 'es' },
    ],
    [
      'time, before dawn',
      { type: 'string', format: 'time' },
      'às 3 da noite',
      undefined,
      { language: 'pt' },
    ],
    ['pattern', { type: 'string', pattern: '^[A-Z]{2}\\d{4}$' }, 'my code is AB1234, ok', 'AB1234'],
    ['pattern, lower case', { type: 'string', pattern: '^[A-Z]{2}\\d{4}$' }, 'ab1234', 'AB1234'],
    [
      'pattern, inside a longer code',
      { type: 'string', pattern: '^[A-Z]{2}\\d{4}$' },
      'AB12345',
      undefined,
    ],
    ['code', { type: 'string' }, 'mi pedido es el #A-99', 'A-99', { name: 'pedido' }],
    [
      'code beside its name',
      { type: 'string' },
      'I have 250 euros and my order is 7788',
      '7788',
      { name: 'order_number' },
    ],
    ['code, none', { type: 'string' }, 'my thing', undefined, { name: 'tracking' }],
    [
      'free text',
      { type: 'string' },
      'something nice',
      'lookup: something nice',
      { name: 'query' },
    ],
    [
      'optional free text',
      { type: 'string' },
      'something nice',
      undefined,
      { name: 'query', required: false },
    ],
    ['default', { type: 'string', default: 'x' }, 'nothing', 'x', { name: 'city' }],
  ])('%s', async (_, argument, message, value, setting = {}) =>
    expect(await filled(argument, message, setting)).toEqual(value),
  );

  it('a date and a time make a moment, with an offset', async () => {
    expect(await filled({ type: 'string', format: 'date-time' }, '31/12/2026 at 15:30')).toMatch(
      /^2026-12-31T15:30:00[+-]\d\d:\d\d$/,
    );
    expect(await filled({ type: 'string', format: 'date-time' }, '2026-12-31T15:30:00Z')).toBe(
      '2026-12-31T15:30:00+00:00',
    );
  });

  it('gives each value to the argument beside it, and none to two', async () => {
    const lookup = tool(
      'lookup',
      '',
      schema({
        children: { type: 'integer' },
        adults: { type: 'integer' },
        from: { type: 'string', format: 'date' },
        to: { type: 'string', format: 'date' },
      }),
    );
    expect(
      await next(['lookup 2 adults and 3 children, 1/12/2026 to 13/12/2026'], {
        tools: [lookup],
        language: 'es',
      }),
    ).toEqual(callOf('lookup', { children: 3, adults: 2, from: '2026-12-01', to: '2026-12-13' }));
  });

  it.each<[string, JsonObject, string]>([
    ['a number', { type: 'integer' }, '4'],
    ['a date', { type: 'string', format: 'date' }, '2026-12-24'],
    ['a code', { type: 'string', pattern: '^[A-Z]-\\d+$' }, 'A-12'],
  ])('asks for the second value where there is only %s', async (_name, argument, value) => {
    const lookup = tool('lookup', '', schema({ first: argument, second: argument }));
    const setting = { tools: [lookup] };
    const second = { text: expect.stringContaining('Second') };
    expect(await next([`lookup ${value}`], setting)).toMatchObject(second);
    const asked = (await next(['lookup'], setting)) as Step & { type: 'reply' };
    const answered = await next(['lookup', said(asked.text), value], setting);
    expect(answered).toMatchObject(second);
  });

  it('follows local references, and hands over what requires an object', async () => {
    const lookup = tool(
      'lookup',
      '',
      schema({ size: { $ref: '#/$defs/size' }, loop: { $ref: '#/properties/loop' } }, ['size'], {
        $defs: { size: { enum: ['small', 'big'] } },
      }),
    );
    expect(await next(['lookup big'], { tools: [lookup] })).toEqual(
      callOf('lookup', { size: 'big' }),
    );
    expect(await next(['lookup'], { tools: [lookup] })).toEqual(ask('Size (small, big)'));
    const boxed = tool('lookup', '', schema({ box: schema({ size: { type: 'string' } }) }));
    expect(await next(['lookup big'], { tools: [boxed] })).toEqual(UNKNOWN);
  });
});

describe('asking for what is missing', () => {
  it.each<[string, (HistoryItem | string)[], Step]>([
    [
      'the answer completes the call',
      ['where is my order?', asking(), 'AB123'],
      callOf('track_order', { order_id: 'AB123' }),
    ],
    [
      'behind a greeting, in another language',
      [
        'cancel my order',
        said(`Hi!\n\n${sentence('askForArgument', 'pt', { what: 'Order number' })}`),
        '7',
      ],
      confirm('cancel order 7'),
    ],
    ['asks again', ['where is my order?', asking(), 'hmm'], ask('Order number')],
    [
      'hands over after two failed tries',
      ['where is my order?', asking(), 'hmm', asking(), 'no idea'],
      UNKNOWN,
    ],
    [
      'the second try counts',
      ['where is my order?', asking(), 'hmm', asking(), 'AB123'],
      callOf('track_order', { order_id: 'AB123' }),
    ],
    [
      'the customer asks for something else',
      ['where is my order?', asking(), 'what are your opening hours?'],
      callOf('opening_hours', {}),
    ],
    [
      'the customer changes their mind',
      ['where is my order?', asking(), 'never mind'],
      reply(sentence('allRight', 'en')),
    ],
    [
      'an older question is over',
      ['where is my order?', asking(), 'AB1', calls(call('succeeded')), said('Here'), 'AB2'],
      UNKNOWN,
    ],
    [
      'a question of the team is not ours',
      [
        'where is my order?',
        {
          type: 'reply',
          from: 'team',
          text: sentence('askForArgument', 'en', { what: 'Order number' }),
        },
        'AB1',
      ],
      UNKNOWN,
    ],
  ])('%s', async (_, history, step) => expect(await next(history)).toEqual(step));

  it('goes from one missing argument to the next, and keeps what came before', async () => {
    const history: (HistoryItem | string)[] = ['reservar una mesa mañana'];
    for (const [question, answer] of [
      ['Time (15:30)', '19:30'],
      ['How many people', 'somos 4'],
    ] as const) {
      expect(await next(history, { language: 'es' })).toEqual(ask(question, 'es'));
      history.push(said(sentence('askForArgument', 'es', { what: question })), answer);
    }
    expect(await next(history, { language: 'es' })).toEqual(
      confirm(`book table: date 2026-11-22, time 19:30:00${OFFSET}, people 4`, 'es'),
    );
  });

  it('takes a length of time for a number where that is all of the answer', async () => {
    const tools = [tool('lookup', '', schema({ days: { type: 'integer' } }))];
    const question = said(sentence('askForArgument', 'en', { what: 'Days' }));
    expect(await next(['lookup', question, '3 days'], { tools })).toEqual(
      callOf('lookup', { days: 3 }),
    );
    expect(await next(['lookup', question, 'I have waited 3 days'], { tools })).toEqual(
      ask('Days'),
    );
  });

  it('cuts a long option between characters', async () => {
    const size = { enum: [`${'x'.repeat(38)}😀 long`, 'small'] };
    expect(await next(['lookup'], { tools: [tool('lookup', '', schema({ size }))] })).toEqual(
      ask(`Size (${'x'.repeat(38)}…, small)`),
    );
  });

  it('takes the whole answer where any text will do', async () => {
    const weather = tool(
      'weather',
      'Weather forecast',
      schema({ city: { type: 'string', maxLength: 30 } }),
    );
    expect(await next(['weather'], { tools: [weather] })).toEqual(ask('City'));
    expect(
      await next(
        ['weather', said(sentence('askForArgument', 'en', { what: 'City' })), 'Buenos Aires'],
        { tools: [weather] },
      ),
    ).toEqual(callOf('weather', { city: 'Buenos Aires' }));
    expect(
      await next(
        ['weather', said(sentence('askForArgument', 'en', { what: 'City' })), "I don't know"],
        { tools: [weather] },
      ),
    ).toEqual(ask('City'));
  });

  it('reads yes and no as the answer to a yes-or-no question', async () => {
    const wrap = tool('wrap', 'Wraps', schema({ gift: { type: 'boolean' } }));
    const question = said(sentence('askForArgument', 'es', { what: 'Gift (sí / no)' }));
    expect(await next(['wrap', question, 'sí'], { tools: [wrap], language: 'es' })).toEqual(
      callOf('wrap', { gift: true }),
    );
    expect(await next(['wrap', question, 'no'], { tools: [wrap], language: 'es' })).toEqual(
      callOf('wrap', { gift: false }),
    );
  });

  it('asks again for what the service refused, twice at most', async () => {
    const refused = calls(call('invalid', 'arguments/order_id must match the pattern'));
    const refusedTwice = ['where is my order 1?', refused, asking(), '2', refused];
    expect(await next(['where is my order 1?', refused])).toEqual(ask('Order number'));
    expect(await next(['where is my order 1?', refused, asking(), '2'])).toEqual(
      callOf('track_order', { order_id: '2' }),
    );
    expect(await next(refusedTwice)).toEqual(ask('Order number'));
    expect(await next([...refusedTwice, asking(), '3', refused])).toEqual(UNKNOWN);
    expect(
      await next(['where is my order 1?', calls(call('invalid', 'something is wrong'))]),
    ).toEqual(UNKNOWN);
  });
});

describe('after tool calls', () => {
  const result = (lines: string) => sentence('toolResult', 'en', { result: lines });

  it.each<[PastToolCall['status'], string, string]>([
    ['succeeded', '"It ships today"', 'It ships today'],
    ['succeeded', '{"id":7,"message":"Arrives Monday"}', 'Arrives Monday'],
    ['succeeded', '[{"json":{"output":"{\\"answer\\":\\"deep\\"}"}}]', 'deep'],
    [
      'succeeded',
      '{"order_id":"A1","eta":null,"isPaid":true,"total":12.5,"tags":["a","b"]}',
      result('Order id: A1\nIs Paid: yes\nTotal: 12.5\nTags: a, b'),
    ],
    [
      'succeeded',
      '[{"name":"Red","price":5},{"name":"Blue","price":7}]',
      result('- Name: Red, Price: 5\n- Name: Blue, Price: 7'),
    ],
    ['succeeded', '[1,2,3,4,5,6,7]', result('- 1\n- 2\n- 3\n- 4\n- 5\nAnd 2 more.')],
    ['succeeded', '{"ok":true}', sentence('toolDone', 'en')],
    ['succeeded', '[{"json":{"success":true,"error":null}}]', sentence('toolDone', 'en')],
    ['succeeded', '{"status":"accepted"}', sentence('toolDone', 'en')],
    ['succeeded', '{"status":200,"ok":"true"}', sentence('toolDone', 'en')],
    ['succeeded', '{"ok":true,"total":5}', result('Ok: yes\nTotal: 5')],
    ['succeeded', '{"ok":false}', result('Ok: no')],
    ['succeeded', '{"status":"delayed"}', result('Status: delayed')],
    ['succeeded', '{"status":7}', result('Status: 7')],
    ['succeeded', '[]', sentence('nothingFound', 'en')],
    ['succeeded', '{"data":[],"next_cursor":null}', sentence('nothingFound', 'en')],
    ['succeeded', '{"orders":[],"count":0}', result('Count: 0')],
    ['succeeded', '{"order":{"status":"sent"},"error":null}', result('Status: sent')],
    ['succeeded', 'null', sentence('toolDone', 'en')],
    ['succeeded', '{"cut":["in the mid', sentence('toolDone', 'en')],
    ['succeeded', '{"data":{"rows":[{"status":"sent"}]}}', result('Status: sent')],
    ['succeeded', '{"rows":[{"a":{"b":1}},{"a":{"b":2}}]}', sentence('toolDone', 'en')],
    ['succeeded', 'plain words', 'plain words'],
    ['succeeded', '"One\\nTwo \\"th… (cut)', 'One\nTwo "th… (cut)'],
    ['succeeded', '"One\\nTwo\\u00… (cut)', 'One\nTwo… (cut)'],
    ['pending_approval', '', sentence('waitingForApproval', 'en')],
    ['failed', 'HTTP 500', sentence('toolFailed', 'en')],
    ['cancelled', '', sentence('toolFailed', 'en')],
    ['rejected', '', sentence('approvalRejected', 'en')],
    ['expired', '', sentence('approvalExpired', 'en')],
  ])('%s %s', async (status, outcome, text) => {
    expect(await next(['order?', calls(call(status, outcome))])).toEqual(reply(text));
    expect(
      await next([
        'order?',
        calls(call('pending_approval')),
        said('…'),
        late(call(status, outcome)),
      ]),
    ).toEqual(reply(text));
  });

  it.each([
    '"' + 'x'.repeat(5000) + '"',
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i}`, '😀'.repeat(200)])),
    ),
    '['.repeat(4000) + ']'.repeat(4000),
    '{"a":'.repeat(1000) + '1' + '}'.repeat(1000),
  ])('a hostile result stays short and no JSON (%#)', async (outcome) => {
    const step = await next(['order?', calls(call('succeeded', outcome))]);
    expect(
      step.type === 'reply' &&
        step.text.length <= 1_000 &&
        step.text.isWellFormed() &&
        !/[{[]/.test(step.text),
    ).toBe(true);
  });

  it('a late result replaces what was known of its call', async () => {
    expect(
      await next(['order?', calls(call('pending_approval')), late(call('succeeded', '"Here"'))]),
    ).toEqual(reply('Here'));
  });

  it('a result that a message of the customer overtook is still told', async () => {
    const overtaken = ['order 1?', calls(call('succeeded', '"Here"'))];
    expect(await next([...overtaken, 'hello'])).toEqual(
      reply(`Here\n\n${sentence('howCanIHelp', 'en')}`),
    );
    expect(await next([said('…'), ...overtaken, 'and so?'])).toEqual(reply('Here'));
    expect(await next([...overtaken, 'opening hours?'])).toEqual(callOf('opening_hours', {}));
    expect(
      await next([
        ...overtaken,
        'opening hours?',
        calls(call('succeeded', '"9 to 5"', { id: 'call_2' })),
      ]),
    ).toEqual(reply('Here\n\n9 to 5'));
  });
});

describe('hostile inputs take bounded time', () => {
  const many = Array.from({ length: 100 }, (_, i) =>
    tool(
      `lookup_${i}`,
      `word${i} alpha beta gamma `.repeat(300),
      schema({ ...ORDER_ID, q: { type: 'string', pattern: '(a+)+$' } }),
    ),
  );
  const kinds = ['date', 'email', 'url', 'phone', 'order_id', 'name', 'time'].map(
    (name) => [name, { type: 'string' }] as const,
  );
  const demanding = tool(
    'lookup',
    'Looks up',
    schema({
      ...Object.fromEntries(kinds),
      amount: { type: 'number' },
      moment: { type: 'string', format: 'date-time' },
      p1: { type: 'string', pattern: '(a+)+$' },
      p2: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' },
      p3: { type: 'string', pattern: '(x{1,1000}){1,1000}' },
      p4: { type: 'string', pattern: '(?=a)\\1[' },
    }),
  );
  const pieces = [
    'a',
    'abcdefgh ',
    'a!',
    '1,1',
    '1 ',
    '1.',
    '1-',
    'a@',
    '1/1/',
    'http://',
    'a.',
    '( ',
    '12:30 ',
    'my name is ',
    'mañana ',
    '1 de ',
    'alpha beta ',
    '#',
    '-',
  ];

  it.each(pieces)('4,096 characters of "%s"', async (piece) => {
    const text = `lookup ${piece.repeat(4096)}`.slice(0, 4096);
    await next([text], { tools: many });
    await next([text], { tools: [demanding] });
    await next(
      [text, said(sentence('askForArgument', 'en', { what: 'Date (2026-12-31)' })), text],
      { tools: [demanding] },
    );
  });

  it('a long history', async () => {
    const long = Array.from({ length: 2_000 }, (_, i) => [
      customer(`order ${i}`.repeat(50)),
      asking(),
    ]).flat();
    expect(await next([...long, 'x'.repeat(4096)], { tools: many })).toEqual(UNKNOWN);
  });

  it('names that every object has', async () => {
    const parameters = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"enum":["red","blue"]},"constructor":{"type":"integer"}},"required":["__proto__","constructor"]}',
    ) as JsonObject;
    const step = await next(['constructor red 5 toString valueOf hasOwnProperty'], {
      tools: [tool('constructor', 'toString __proto__ valueOf hasOwnProperty', parameters)],
    });
    expect(step.type === 'tool_calls' && JSON.stringify(step.calls[0]!.arguments)).toBe(
      '{"__proto__":"red","constructor":5}',
    );
  });

  it.each<JsonObject>([
    {},
    { type: 'object' },
    { properties: null, required: 'x' },
    { $ref: '#' },
    { $ref: '#/%zz/~' },
    { type: 'object', properties: {}, required: [1, null] },
  ])('parameters that ask for nothing: %j', async (parameters) => {
    expect(
      await next(['opening hours'], { tools: [tool('opening_hours', '', parameters)] }),
    ).toEqual(callOf('opening_hours', {}));
  });
});
