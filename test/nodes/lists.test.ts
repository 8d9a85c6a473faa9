import { beforeAll, describe, expect, it } from '@jest/globals';
import type { INodePropertyOptions } from 'n8n-workflow';
import { chatCustomer } from '../helpers/apiClient.ts';
import { useService } from './helpers/actions.ts';
import { actionNode, triggerNode } from './helpers/n8n.ts';

const { open, resource, search, service, wire } = useService();
const contact = resource('contact');
/** The query of each call. */
const queries = () => wire().seen.map(({ path }) => new URL(path, wire().url).searchParams);

describe('The list of events', () => {
  const events = triggerNode.description.properties.find(({ name }) => name === 'events')!;
  const options = events.options as INodePropertyOptions[];

  it('has the events of the service', async () => {
    const { body } = await service().api.get('/api/hooks/events');
    const described = body.data.map(({ name, description }: Record<string, string>) => ({
      value: name,
      description,
    }));
    const offered = options.map(({ value, description }) => ({ value, description }));
    expect(offered).toHaveLength(described.length);
    expect(offered).toEqual(expect.arrayContaining(described));
  });

  it("gives n8n's node search a trigger action for each event, in words", () => {
    // n8n's editor makes them from the options in the code of a field with this name.
    expect(events.displayName).toBe('Events');
    for (const { name, action } of options) expect(action).toBe(`On ${name.toLowerCase()}`);
  });
});

describe('The lists to choose from', () => {
  it('names conversations by contact, and finds one by a part of it', async () => {
    const { id: ana } = await open('Hi', { name: 'Ana Lopez', email: 'ana@example.com' });
    await open('Hi', { name: 'Bo' });
    expect((await search('searchConversations')).results).toHaveLength(2);
    expect((await search('searchConversations', 'lopez')).results).toEqual([
      {
        name: expect.stringMatching(
          /^Ana Lopez · a••@e•+\.com · \d{1,2} \w+, \d\d:\d\d · With the Agent · Web Chat$/,
        ),
        value: ana,
        url: `${wire().url}/conversations/${ana}`,
      },
    ]);
    expect((await search('searchContacts', 'lopez')).results).toEqual([
      {
        name: expect.stringMatching(/^Ana Lopez · a••@e•+\.com · Web Chat · /),
        value: expect.stringMatching(/^ctc_/),
      },
    ]);
    expect((await search('searchConversations', 'nobody')).results).toEqual([]);
  });

  it('names subscriptions by event and address', async () => {
    const { body } = await service().api.post('/api/hooks', {
      event: 'message.sent',
      target_url: 'https://127.0.0.1:9/hook',
      source: 'n8n',
    });
    expect((await search('searchSubscriptions', ' sent ')).results).toEqual([
      { name: 'message.sent · https://127.0.0.1:9/hook', value: body.id },
    ]);
  });
});

describe('A list of several pages', () => {
  const MANY = 205;
  beforeAll(async () => {
    const { data } = (await service().api.get('/api/contacts')).body;
    for (let n = data.length; n < MANY; n += 1) await chatCustomer(service().url);
  });

  it('is paged through by a list to choose from, which finds what is on its last page', async () => {
    const first = await search('searchContacts');
    const second = await search('searchContacts', undefined, first.paginationToken as string);
    const third = await search('searchContacts', undefined, second.paginationToken as string);
    expect([first, second, third].map(({ results }) => results.length)).toEqual([100, 100, 5]);
    expect(third.paginationToken).toBeUndefined();
    expect((await search('searchContacts', 'lopez')).results).toHaveLength(1);
  });

  it.each(Object.keys(actionNode.methods!.listSearch!))(
    '%s asks for the page that n8n names',
    async (method) => {
      await expect(search(method, undefined, 'a page')).rejects.toThrow();
      expect(queries().map((query) => query.get('cursor'))).toEqual(['a page']);
    },
  );

  const limits = () => queries().map((query) => query.get('limit'));

  it('is read whole by Get Many, page by page, each record once', async () => {
    const { items, paired } = await contact('getAll', { parameters: { returnAll: true } });
    expect(new Set(items.map(({ id }) => id)).size).toBe(MANY);
    expect(items).toHaveLength(MANY);
    expect(paired.at(-1)).toEqual({ item: 0 });
    expect(limits()).toEqual(['200', '200']);
  });

  it.each([
    [1, ['1']],
    [200, ['200']],
    [203, ['200', '3']],
    [1000, ['200', '200']],
  ])('is read up to the limit %s by requests for %j records', async (limit, expected) => {
    const { items } = await contact('getAll', { parameters: { limit } });
    expect(items).toHaveLength(Math.min(limit, MANY));
    expect(limits()).toEqual(expected);
  });
});
