import { describe, expect, it } from '@jest/globals';
import type { Language, Step } from '../../../../service/src/agent/agentModel.ts';
import {
  acting,
  ask,
  callOf,
  FAQ,
  next,
  said,
  schema,
  tool,
  TOOLS,
  UNKNOWN,
} from './keywordStage.ts';

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

  it('gives a question that no other tool fits to the tool that answers questions', async () => {
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

  it('finds the request at the end of a long story, at its beginning, and amid it', async () => {
    const story =
      'Last Monday my sister visited us from Portugal together with her husband, three small children and an old brown dog called Bruno. We spent several wonderful afternoons near the river, swimming, cooking fish, playing cards until late, listening to music while grandmother told stories about her youth in the mountains, which made everyone laugh or cry before going to bed tired and happy every single evening.';
    expect(await next([`${story} Where is my order?`])).toEqual(ask('Order number'));
    expect(await next([`Where is my order? ${story}`])).toEqual(ask('Order number'));
    const words = story.split(' ');
    const amid = [...words.slice(0, 35), '. Where is my order?', ...words.slice(35)].join(' ');
    expect(await next([amid])).toEqual(ask('Order number'));
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
