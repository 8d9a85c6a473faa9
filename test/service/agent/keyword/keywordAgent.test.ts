import { describe, expect, it } from '@jest/globals';
import type { Language } from '../../../../service/src/agent/agentModel.ts';
import { sentence } from '../../../../service/src/agent/keyword/sentences.ts';
import type { JsonObject } from '../../../../service/src/platform/json.ts';
import {
  acting,
  asking,
  beside,
  call,
  callOf,
  calls,
  confirm,
  confirming,
  customer,
  next,
  OFFSET,
  ORDER_ID,
  reply,
  said,
  schema,
  tool,
  TRACK,
  UNKNOWN,
} from './keywordStage.ts';

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
    'is not called on anything but a plain yes: %s',
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
    // In order: the yes answers another question, the tool is gone, the question is the team's, there
    // is no question, and the question was answered before.
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

  it('is called on a yes, also when its argument has words of our own question', async () => {
    const write = acting('write_ticket', 'Writes a ticket', schema({ subject: {} }));
    const words = 'write a ticket: Shall I restart the router?';
    expect(
      await next([words, confirming(`write ticket ${words}`), 'yes'], { tools: [write] }),
    ).toEqual(callOf('write_ticket', { subject: words }));
  });

  it('is not called on a yes that another tool of the same words could get', async () => {
    const retail = acting('cancel_order', 'Cancels an order', schema(ORDER_ID));
    const wholesale = acting('cancelOrder', 'Cancels a wholesale order', schema(ORDER_ID));
    const tools = [retail, wholesale];
    const words = 'cancel the wholesale order 4455';
    expect(await next([words], { tools })).toEqual(confirm('cancel order 4455'));
    expect(await next([words, confirming('cancel order 4455'), 'yes'], { tools })).toEqual(UNKNOWN);
  });

  it('is repeated with a default that is an object', async () => {
    const options = { type: 'object', default: { notify: true } };
    const stop = acting('stop_plan', 'Stops a plan', schema({ ...ORDER_ID, options }));
    expect(await next(['stop plan 4455'], { tools: [stop] })).toEqual(
      confirm('stop plan: order id 4455, options {"notify":true}'),
    );
  });

  it('is repeated with a default that is a list of objects', async () => {
    const boxes = { type: 'array', default: [{ size: 'S' }, { size: 'L' }] };
    const stop = acting('stop_plan', 'Stops a plan', schema({ boxes }));
    expect(await next(['stop plan'], { tools: [stop] })).toEqual(
      confirm('stop plan {"size":"S"},{"size":"L"}'),
    );
  });

  it('has its result told even if an automation sent something in between', async () => {
    const cancelled = calls(call('succeeded', '"It is cancelled."', { tool: 'cancel_order' }));
    expect(await next([...asked, 'yes', cancelled, beside('News!'), 'hello'])).toEqual(
      await next([...asked, 'yes', cancelled, 'hello']),
    );
  });

  it('is not called on a yes that may answer what an automation sent after our question', async () => {
    expect(await next([...asked, beside('Shall we deliver tomorrow?'), 'yes'])).not.toHaveProperty(
      'calls',
    );
    // A yes from before the automation wrote still counts.
    const shipped = beside('Your parcel has shipped.');
    const twice = [shipped, beside('It arrives tomorrow.')];
    const expected = await next([...asked, 'yes', 'please']);
    expect(await next([...asked, 'yes', shipped, 'please'])).toEqual(expected);
    expect(await next([...asked, 'yes', ...twice, 'please'])).toEqual(expected);
  });

  it('is not called on a yes when, after our question, the agent also offered a person', async () => {
    const question = sentence('confirmCall', 'en', { action: 'cancel order 4455' });
    const offered = said(`${question}\n\n${sentence('toolFailed', 'en')}`);
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
    ['email', 'known by its format', { format: 'email' }, `my mail is ${EMAIL}.`, EMAIL],
    [
      'correo',
      'known by its name',
      { pattern: '^[a-z]+@[a-z.]+$', maxLength: 8 },
      `mi correo es ${EMAIL}`,
      EMAIL,
    ],
    [
      'email',
      'the first one is in the clear',
      { format: 'email' },
      `bob@example.com, not ${EMAIL}`,
      'bob@example.com',
    ],
    ['email', 'the message has only a phone', { format: 'email' }, PHONE, null],
    [
      'phone',
      'known by its name',
      { pattern: '^\\+?\\d{8,15}$' },
      `call me at ${PHONE}, please`,
      PHONE,
    ],
    ['telefono', 'known by its name', {}, `mi teléfono: ${PHONE}`, PHONE],
    ['celular', 'known by its name', {}, PHONE, PHONE],
    ['telefone', 'known by its name', {}, PHONE, PHONE],
    ['mobile', 'known by its name', {}, PHONE, PHONE],
    ['phone', 'the message has only an address', {}, EMAIL, null],
    ['order_number', 'a masked phone is not a code', {}, `it is ${PHONE}`, null],
    ['order_number', 'the message has a code too', {}, `${PHONE} and order A-5`, 'A-5'],
    ['sku', 'a masked phone does not fit the pattern', { pattern: '\\d{2}' }, PHONE, null],
  ])('%s (%s)', async (name, _, argument, text, value) => {
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

  it('does not close while a call waits for approval, because that would cancel it', async () => {
    const waiting = [
      'cancel order 1',
      calls(call('pending_approval')),
      said(sentence('waitingForApproval', 'en')),
      'thanks, bye',
    ];
    expect(await next(waiting, { mayClose: false })).toEqual(
      reply(sentence('youAreWelcome', 'en')),
    );
  });

  it('goes on when the customer declines a person', async () => {
    const offered = ['order 1?', calls(call('failed')), said(sentence('toolFailed', 'es'))];
    expect(await next([...offered, 'no, gracias'], { language: 'es' })).toEqual(
      reply(sentence('allRight', 'es')),
    );
  });
});

// `next` fails when a step takes too long.
describe('hostile inputs take bounded time', () => {
  const many = Array.from({ length: 100 }, (_, i) =>
    tool(
      `lookup_${i}`,
      `word${i} alpha beta gamma `.repeat(300),
      schema({ ...ORDER_ID, q: { type: 'string', pattern: '(a+)+$' } }),
    ),
  );
  const names = ['date', 'email', 'url', 'phone', 'order_id', 'name', 'time'];
  const demanding = tool(
    'lookup',
    'Looks up',
    schema({
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
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
    await next([text, asking('Date (2026-12-31)'), text], { tools: [demanding] });
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
