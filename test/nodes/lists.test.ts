import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INodeListSearchResult, INodePropertyOptions } from 'n8n-workflow';
import { chatCustomer } from '../helpers/apiClient.ts';
import { useService } from './helpers/actions.ts';
import {
  ACTION,
  actionNode,
  loadOptionsContext,
  ourNode,
  runAction,
  triggerNode,
} from './helpers/n8n.ts';
import { startWire, type Wire } from './helpers/strangers.ts';

const { service, open } = useService();
let wire: Wire;
beforeAll(async () => {
  wire = await startWire(() => service().url);
});
afterAll(() => wire.close());
const credential = () => ({ baseUrl: wire.url, apiKey: service().apiKey });

const search = (method: string, filter?: string, cursor?: string): Promise<INodeListSearchResult> =>
  actionNode.methods!.listSearch![method]!.call(
    loadOptionsContext(ourNode(ACTION, {}), credential()) as never,
    filter,
    cursor,
  );

describe('The list of events', () => {
  const events = triggerNode.description.properties.find(({ name }) => name === 'events')!;
  const options = events.options as INodePropertyOptions[];

  it('has the events of the service', async () => {
    const { body } = await service().api.get('/api/hooks/events');
    const described = body.data.map(({ name, description }: Record<string, string>) => ({
      value: name,
      description,
    }));
    const byValue = (a: { value: unknown }, b: { value: unknown }) =>
      String(a.value).localeCompare(String(b.value));
    expect(options.map(({ value, description }) => ({ value, description })).sort(byValue)).toEqual(
      described.sort(byValue),
    );
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
        url: `${wire.url}/conversations/${ana}`,
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
      wire.seen.length = 0;
      await expect(search(method, undefined, 'a page')).rejects.toThrow();
      const [page, ...more] = wire.seen.map(({ path }) => new URL(path, wire.url).searchParams);
      expect([page!.get('cursor'), more]).toEqual(['a page', []]);
    },
  );

  /** Gets many contacts. @returns their ids, and what each request asked for */
  async function getMany(parameters: { returnAll: true } | { limit: number }) {
    wire.seen.length = 0;
    const { items, paired } = await runAction({
      credential: credential(),
      resource: 'contact',
      operation: 'getAll',
      parameters,
    });
    const limits = wire.seen.map(({ path }) => new URL(path, wire.url).searchParams.get('limit'));
    return { ids: items.map(({ id }) => id), paired, limits };
  }

  it('is read whole by Get Many, page by page, each record once', async () => {
    const { ids, paired, limits } = await getMany({ returnAll: true });
    expect(new Set(ids).size).toBe(MANY);
    expect(ids).toHaveLength(MANY);
    expect(paired.at(-1)).toEqual({ item: 0 });
    expect(limits).toEqual(['200', '200']);
  });

  it.each([
    [1, ['1']],
    [200, ['200']],
    [203, ['200', '3']],
    [1000, ['200', '200']],
  ])('is read up to the limit %s by requests for %j records', async (limit, expected) => {
    const { ids, limits } = await getMany({ limit });
    expect(ids).toHaveLength(Math.min(limit, MANY));
    expect(limits).toEqual(expected);
  });
});
