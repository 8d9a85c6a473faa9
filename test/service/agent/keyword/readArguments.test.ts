import { describe, expect, it } from '@jest/globals';
import type { HistoryItem, Language, Step } from '../../../../service/src/agent/agentModel.ts';
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
    ['number, not from a range', { type: 'number' }, '3-5', undefined],
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
    ['time, neither a.m. nor p.m.', { type: 'string', format: 'time' }, 'at 5', undefined],
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
      'time, not from a duration',
      { type: 'string', format: 'time' },
      'llevo 2 horas esperando',
      undefined,
      { language: 'es' },
    ],
    [
      'integer, not from a duration',
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
      'integer, not from midnight',
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

  it('takes a duration as a number only where it is the whole answer', async () => {
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
