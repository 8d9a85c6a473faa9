import { describe, expect, it } from '@jest/globals';
import { byId, chosen, timeBetween, type Rest, useService } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';

const { open, resource, wire } = useService();
const conversation = resource('conversation');
/** The output of an operation. */
const output = async (operation: string, parameters: Rest['parameters']) =>
  (await conversation(operation, { parameters })).items;

describe('Conversation', () => {
  it('gets as many of the newest messages as asked for', async () => {
    const { id, customer } = await open('one');
    await customer.write('two');
    const get = async (messages: number) =>
      (await output('get', { ...byId(id), options: { messages } }))[0]!.messages;
    expect(await get(1)).toMatchObject([{ text: 'two' }]);
    expect(await get(0)).toEqual([]);
  });

  it('finds by e-mail and by phone', async () => {
    const { id, email } = await open('Hi', { phone: '+49 170 1234567' });
    for (const parameters of [
      { findBy: 'email', email: ` ${email} ` },
      { findBy: 'phone', phone: '+49 170 1234567' },
    ])
      expect(await output('findByContact', parameters)).toMatchObject([{ id }]);
  });

  it('fails for an unknown contact and says how to continue without one', async () => {
    const parameters = { findBy: 'email', email: 'nobody@example.com' };
    expect(await failureOf(output('findByContact', parameters))).toMatchObject({
      httpCode: '404',
      description: expect.stringContaining('Return Nothing'),
    });
  });

  it('says what to enter when the email address is only a part of one', async () => {
    const parameters = { findBy: 'email', email: 'Ana' };
    expect(await failureOf(output('findByContact', parameters))).toMatchObject({
      name: 'NodeOperationError',
      message: '"Ana" is not a whole email address',
      description: expect.stringMatching(/^Enter the whole email address/),
    });
  });

  it('returns nothing for an unknown contact when told so, and still finds the others', async () => {
    const { id, email } = await open();
    const { items, paired } = await conversation('findByContact', {
      parameters: { findBy: 'email', email: '={{ $json.email }}', ifNotFound: 'empty' },
      input: [{ email: 'nobody@example.com' }, { email }],
    });
    expect(items.map((each) => each.id)).toEqual([id]);
    expect(paired).toEqual([{ item: 1 }]);
  });

  it('lists by status, channel and funnel stage, up to a limit or all', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    for (const { id } of opened)
      await output('setFunnelStage', { ...byId(id), funnelStage: 'lost' });
    const list = async (parameters: Rest['parameters']) =>
      (await output('getAll', parameters)).map(({ id }) => id);
    const lost = { status: 'ai_active', channel: 'web_chat', funnel_stage: 'lost' };
    expect((await list({ returnAll: true, filters: lost })).sort()).toEqual(
      opened.map(({ id }) => id).sort(),
    );
    expect(await list({ returnAll: false, limit: 2, filters: lost })).toHaveLength(2);
    expect(
      await list({ returnAll: true, filters: { ...lost, channel: 'whatsapp_cloud' } }),
    ).toEqual([]);
  });

  it('sends a message that the customer reads, and pauses the agent', async () => {
    const { id, texts } = await open();
    const text = 'Grüße 🎉';
    expect(await output('sendMessage', { ...byId(id), text })).toMatchObject([
      {
        message: { direction: 'outbound', text, sender: { type: 'api' } },
        conversation: { id, status: 'human_active' },
      },
    ]);
    expect(await texts()).toEqual([text]);
  });

  it.each([
    [{ reply: 'Hello' }, 'The text is an object, not a text'],
    [['Hello', 'Ana'], 'The text is a list, not a text'],
  ])('does not send %j as a message: the error says to name a field', async (value, message) => {
    const { id, texts } = await open();
    const error = await failureOf(
      conversation('sendMessage', {
        parameters: { ...byId(id), text: '={{ $json.output }}' },
        input: [{ output: value }],
      }),
    );
    expect(error).toMatchObject({
      name: 'NodeOperationError',
      message,
      description: expect.stringContaining('{{ $json.output.reply }}'),
    });
    expect(wire().seen).toEqual([]);
    expect(await texts()).toEqual([]);
  });

  it.each([
    ['=Hello {{ $json.output }}', { reply: 'Hello' }],
    ['=Hello {{ $json.output }}', [{ reply: 'Hello' }]],
  ])(
    'does not send %s when the output is %j: n8n makes [object Object] of it',
    async (text, output) => {
      const { id, texts } = await open();
      const error = await failureOf(
        conversation('sendMessage', { parameters: { ...byId(id), text }, input: [{ output }] }),
      );
      expect(error).toMatchObject({
        name: 'NodeOperationError',
        message: 'The text contains [object Object]: an expression in it is an object, not a text',
        description: expect.stringContaining('{{ $json.output.reply }}'),
      });
      expect(wire().seen).toEqual([]);
      expect(await texts()).toEqual([]);
    },
  );

  it('sends [object Object] when the item says so: a customer may have written it', async () => {
    const { id, texts } = await open();
    await conversation('sendMessage', {
      parameters: { ...byId(id), text: '=You wrote: {{ $json.text }}' },
      input: [{ text: 'Your site shows [object Object]' }],
    });
    expect(await texts()).toEqual(['You wrote: Your site shows [object Object]']);
  });

  it.each([
    ['a number', '={{ 0 }}', '0'],
    ['a boolean', '={{ false }}', 'false'],
    ['a date', '={{ new Date(0) }}', /1970/],
    ['a date of n8n', '={{ DateTime.fromMillis(0) }}', /^1970-01-01T/],
  ])('sends %s as text', async (_what, text, expected) => {
    const { id, texts } = await open();
    await output('sendMessage', { ...byId(id), text });
    expect(await texts()).toEqual([
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    ]);
  });

  it('sends a message without pausing the agent when told to', async () => {
    const { id, texts } = await open();
    const text = 'Your parcel has shipped';
    const sent = await output('sendMessage', { ...byId(id), text, pauseAgent: false });
    expect(sent).toMatchObject([{ conversation: { id, status: 'ai_active' } }]);
    expect(await texts()).toEqual([text]);
  });

  it('lists by contact, text and time', async () => {
    const before = await open('Hello', { name: 'Before' });
    const middle = await timeBetween();
    const { id } = await open('Hello', { name: 'Zacharias' });
    const [found] = await output('get', byId(id));
    const contact = String(found!.contact_id);
    const ids = async (filters: NonNullable<Rest['parameters']>) =>
      (await output('getAll', { returnAll: true, filters })).map((each) => each.id);
    expect(await ids({ contact_id: chosen('id', contact) })).toEqual([id]);
    expect(await ids({ q: 'zacharias' })).toEqual([id]);
    expect(await ids({ created_since: middle })).toEqual([id]);
    expect(await ids({ created_since: `={{ new Date("${middle}") }}` })).toEqual([id]);
    expect(await ids({ updated_since: middle })).toEqual([id]);
    const earlier = await ids({ created_before: middle, q: '' });
    expect(earlier).toContain(before.id);
    expect(earlier).not.toContain(id);
  });

  it('refuses a filter that is not a date and time', async () => {
    const filters = { created_since: 'yesterday' };
    expect(await failureOf(output('getAll', { filters }))).toMatchObject({
      message: '"yesterday" is not a date and time',
    });
  });

  it.each([
    ['the event trigger', (id: string) => ({ conversation: { id } })],
    ['the trigger of a tool', (id: string) => ({ conversation_id: id, tool_call_id: 'call_1' })],
    ['an action that returns a conversation', (id: string) => ({ id })],
  ])('takes its conversation by default from %s', async (_what, item) => {
    const { id } = await open();
    expect((await conversation('get', { input: [item(id)] })).items).toMatchObject([{ id }]);
  });

  it('takes the address of the conversation’s page', async () => {
    const { id } = await open();
    const value = `https://conversations.example.com/conversations/${id}?tab=1`;
    const found = await output('get', { conversationId: chosen('url', value) });
    expect(found).toMatchObject([{ id }]);
  });

  it('takes over, hands back, sets a stage and closes with a verdict', async () => {
    const { id } = await open();
    const run = async (operation: string, parameters = {}) =>
      (await output(operation, { ...byId(id), ...parameters }))[0];
    expect(await run('takeOver')).toMatchObject({ id, status: 'human_active' });
    expect(await run('handBack')).toMatchObject({ id, status: 'ai_active' });
    expect(await run('setFunnelStage', { funnelStage: 'qualified' })).toMatchObject({
      id,
      funnel_stage: 'qualified',
    });
    expect(await run('close', { summary: 'Bought', verdict: 'goal_reached' })).toMatchObject({
      id,
      status: 'closed',
      outcome: { verdict: 'goal_reached', summary: 'Bought', closed_by: { type: 'api' } },
    });
  });

  it('closes with a number as the summary, and not with [object Object]', async () => {
    const { id } = await open();
    const close = (summary: string) =>
      conversation('close', {
        parameters: { ...byId(id), summary, verdict: 'goal_reached' },
        input: [{ output: { summary: 'Bought' }, total: 49 }],
      });
    expect(await failureOf(close('=Result: {{ $json.output }}'))).toMatchObject({
      name: 'NodeOperationError',
      message: 'The summary contains [object Object]: an expression in it is an object, not a text',
    });
    expect((await close('={{ $json.total }}')).items).toMatchObject([
      { status: 'closed', outcome: { summary: '49' } },
    ]);
  });
});
