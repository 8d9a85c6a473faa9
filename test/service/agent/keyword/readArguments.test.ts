import { describe, expect, it } from '@jest/globals';
import type { HistoryItem, Step } from '../../../../service/src/agent/agentModel.ts';
import { sentence } from '../../../../service/src/agent/keyword/sentences.ts';
import type { JsonObject } from '../../../../service/src/platform/json.ts';
import {
  ask,
  asking,
  call,
  callOf,
  calls,
  confirm,
  filled,
  next,
  OFFSET,
  reply,
  said,
  schema,
  tool,
  UNKNOWN,
} from './keywordStage.ts';

const TEXT = { type: 'string' };
const DATE = { ...TEXT, format: 'date' };
const TIME = { ...TEXT, format: 'time' };
const CODE = { ...TEXT, pattern: '^[A-Z]{2}\\d{4}$' };
const INTEGER = { type: 'integer' };
const NUMBER = { type: 'number' };
const BOOLEAN = { type: 'boolean' };
const ES = { language: 'es' as const };
const PT = { language: 'pt' as const };

describe('filling arguments', () => {
  it.each<[string, JsonObject, string, unknown, Parameters<typeof filled>[2]?]>([
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
    ['boolean', BOOLEAN, 'with gift wrap', true, { name: 'gift_wrap' }],
    ['boolean, not', BOOLEAN, 'without gift wrap', false, { name: 'gift_wrap', required: false }],
    ['integer', INTEGER, '12', 12],
    ['integer, thousands', INTEGER, '1.234', 1234],
    ['integer, no fraction', INTEGER, '12.5', undefined],
    ['integer, maximum', { type: 'integer', maximum: 10 }, '12', undefined],
    ['integer, two', INTEGER, '12 or 13', undefined],
    ['integer, in a code', INTEGER, 'AB12', undefined],
    ['integer, in words', INTEGER, 'for three', 3],
    ['number', NUMBER, '1.234,50', 1234.5],
    ['number, en', NUMBER, '1,234.50', 1234.5],
    ['number, en thousands', NUMBER, '1,234', 1234],
    ['number, es decimal', NUMBER, '1,234', 1.234, ES],
    ['number, negative', NUMBER, 'minus: -5', -5],
    ['number, not from a range', NUMBER, '3-5', undefined],
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
    ['date', DATE, '2026-12-31', '2026-12-31'],
    ['date, day first', DATE, '31/12/2026', '2026-12-31'],
    ['date, es', DATE, '03/04/2027', '2027-04-03', ES],
    ['date, en ambiguous', DATE, '03/04/2027', undefined],
    ['date, impossible', DATE, '2026-02-31', undefined],
    ['date, tomorrow', DATE, 'tomorrow', '2026-11-22'],
    ['date, mañana', DATE, 'mañana por la mañana', '2026-11-22', ES],
    ['date, la mañana', DATE, 'por la mañana', undefined, ES],
    ['date, amanhã', DATE, 'depois de amanhã', '2026-11-23', PT],
    ['date, today', DATE, 'today', '2026-11-21'],
    ['date, now', DATE, 'now please', undefined],
    ['date, pasado mañana', DATE, 'pasado mañana', '2026-11-23', ES],
    ['time, neither a.m. nor p.m.', TIME, 'at 5', undefined],
    ['clock, pt', TEXT, 'às 15h30', '15:30', { name: 'hora', ...PT }],
    ['date, month', DATE, '5 de enero', '2027-01-05', ES],
    ['date, friday', DATE, 'on Friday', '2026-11-27'],
    ['clock', TEXT, 'at 7pm', '19:00', { name: 'time' }],
    ['clock, es', TEXT, 'a las 8 de la noche', '20:00', { name: 'hora', ...ES }],
    ['time, not from a duration', TIME, 'llevo 2 horas esperando', undefined, ES],
    [
      'integer, not from a duration',
      INTEGER,
      'llevo 2 horas esperando',
      undefined,
      { name: 'people', ...ES },
    ],
    ['clock, horas', TEXT, 'às 9 horas', '09:00', { name: 'hora', ...PT }],
    ['clock, alone', TEXT, '9h', '09:00', { name: 'hora', ...PT }],
    ['clock, ás', TEXT, 'amanhã ás 9h', '09:00', { name: 'hora', ...PT }],
    ['date at midnight', DATE, 'el 5 de diciembre 12:30 de la noche', '2026-12-05', ES],
    [
      'integer, not from midnight',
      INTEGER,
      'mañana a las 12 de la noche',
      undefined,
      { name: 'people', ...ES },
    ],
    ['time, midnight', TIME, '12:30 de la noche', undefined, ES],
    ['time, before dawn', TIME, 'às 3 da noite', undefined, PT],
    ['pattern', CODE, 'my code is AB1234, ok', 'AB1234'],
    ['pattern, lower case', CODE, 'ab1234', 'AB1234'],
    ['pattern, inside a longer code', CODE, 'AB12345', undefined],
    ['code', TEXT, 'mi pedido es el #A-99', 'A-99', { name: 'pedido' }],
    [
      'code beside its name',
      TEXT,
      'I have 250 euros and my order is 7788',
      '7788',
      { name: 'order_number' },
    ],
    ['code, none', TEXT, 'my thing', undefined, { name: 'tracking' }],
    ['free text', TEXT, 'something nice', 'lookup: something nice', { name: 'query' }],
    ['optional free text', TEXT, 'something nice', undefined, { name: 'query', required: false }],
    ['default', { type: 'string', default: 'x' }, 'nothing', 'x', { name: 'city' }],
  ])('%s', async (_, argument, message, value, setting = {}) =>
    expect(await filled(argument, message, setting)).toEqual(value),
  );

  it('makes a date-time with an offset from a date and a time', async () => {
    expect(await filled({ type: 'string', format: 'date-time' }, '31/12/2026 at 15:30')).toMatch(
      /^2026-12-31T15:30:00[+-]\d\d:\d\d$/,
    );
    expect(await filled({ type: 'string', format: 'date-time' }, '2026-12-31T15:30:00Z')).toBe(
      '2026-12-31T15:30:00+00:00',
    );
  });

  it('gives each value to the argument named beside it, and no value to two arguments', async () => {
    const lookup = tool(
      'lookup',
      '',
      schema({ children: INTEGER, adults: INTEGER, from: DATE, to: DATE }),
    );
    const message = 'lookup 2 adults and 3 children, 1/12/2026 to 13/12/2026';
    expect(await next([message], { tools: [lookup], ...ES })).toEqual(
      callOf('lookup', { children: 3, adults: 2, from: '2026-12-01', to: '2026-12-13' }),
    );
  });

  it.each<[string, JsonObject, string]>([
    ['a number', INTEGER, '4'],
    ['a date', DATE, '2026-12-24'],
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

  it('follows local references, and hands over when an argument has to be an object', async () => {
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
    const boxed = tool('lookup', '', schema({ box: schema({ size: TEXT }) }));
    expect(await next(['lookup big'], { tools: [boxed] })).toEqual(UNKNOWN);
  });
});

describe('asking for what is missing', () => {
  const ASKED = ['where is my order?', asking()];

  it.each<[string, (HistoryItem | string)[], Step]>([
    [
      'the answer completes the call',
      [...ASKED, 'AB123'],
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
    ['asks again', [...ASKED, 'hmm'], ask('Order number')],
    ['hands over after two failed tries', [...ASKED, 'hmm', asking(), 'no idea'], UNKNOWN],
    [
      'the second try counts',
      [...ASKED, 'hmm', asking(), 'AB123'],
      callOf('track_order', { order_id: 'AB123' }),
    ],
    [
      'the customer asks for something else',
      [...ASKED, 'what are your opening hours?'],
      callOf('opening_hours', {}),
    ],
    [
      'the customer changes their mind',
      [...ASKED, 'never mind'],
      reply(sentence('allRight', 'en')),
    ],
    [
      'an older question is over',
      [...ASKED, 'AB1', calls(call('succeeded')), said('Here'), 'AB2'],
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
      history.push(asking(question, 'es'), answer);
    }
    expect(await next(history, { language: 'es' })).toEqual(
      confirm(`book table: date 2026-11-22, time 19:30:00${OFFSET}, people 4`, 'es'),
    );
  });

  it('takes a duration as a number only where it is the whole answer', async () => {
    const tools = [tool('lookup', '', schema({ days: INTEGER }))];
    const question = asking('Days');
    for (const answer of ['3 days', '3 days.', '\n3 days!!'])
      expect(await next(['lookup', question, answer], { tools })).toEqual(
        callOf('lookup', { days: 3 }),
      );
    expect(await next(['lookup', question, 'I have waited 3 days'], { tools })).toEqual(
      ask('Days'),
    );
  });

  it('takes "um" as one in Portuguese, and as a hesitation elsewhere', async () => {
    const tools = [tool('lookup', '', schema({ days: INTEGER }))];
    expect(await next(['lookup', asking('Days'), 'um…'], { tools })).toEqual(ask('Days'));
    expect(await next(['lookup', asking('Days', 'pt'), 'um'], { tools, language: 'pt' })).toEqual(
      callOf('lookup', { days: 1 }),
    );
  });

  it('cuts a long option between characters', async () => {
    const size = { enum: [`${'x'.repeat(38)}😀 long`, 'small'] };
    expect(await next(['lookup'], { tools: [tool('lookup', '', schema({ size }))] })).toEqual(
      ask(`Size (${'x'.repeat(38)}…, small)`),
    );
  });

  it('takes the whole answer where any text will do', async () => {
    const city = { type: 'string', maxLength: 30 };
    const tools = [tool('weather', 'Weather forecast', schema({ city }))];
    expect(await next(['weather'], { tools })).toEqual(ask('City'));
    expect(await next(['weather', asking('City'), 'Buenos Aires'], { tools })).toEqual(
      callOf('weather', { city: 'Buenos Aires' }),
    );
    expect(await next(['weather', asking('City'), "I don't know"], { tools })).toEqual(ask('City'));
  });

  it('asks for a required argument that stands behind many others', async () => {
    const others = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`other_${at}`, TEXT]));
    const parameters = schema({ ...others, city: TEXT }, ['city']);
    expect(await next(['weather'], { tools: [tool('weather', '', parameters)] })).toEqual(
      ask('City'),
    );
  });

  it('reads yes and no as the answer to a yes-or-no question', async () => {
    const wrap = tool('wrap', 'Wraps', schema({ gift: { type: 'boolean' } }));
    const question = asking('Gift (sí / no)', 'es');
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
