import { describe, expect, it } from '@jest/globals';
import { byId, useService } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';
import { freeAddress, startHttpServer } from '../helpers/strangers.ts';

const { open, resource, service } = useService();
const conversation = resource('conversation');

describe('When something is wrong', () => {
  it('shows the service’s own message, a fix and the request ID', async () => {
    const { id } = await open();
    const parameters = { ...byId(id), summary: 'x', verdict: 'unknown' };
    await conversation('close', { parameters });
    const error = await failureOf(conversation('close', { parameters }));
    const { body } = await service().api.post(`/api/conversations/${id}/close`, {
      summary: 'x',
      verdict: 'unknown',
    });
    expect(error).toMatchObject({
      name: 'NodeApiError',
      message: body.error.message,
      httpCode: '409',
    });
    expect(error.description).toMatch(/Find by Contact.*Request ID: req_/);
  });

  it('names the field at fault', async () => {
    const { id } = await open();
    const error = await failureOf(
      conversation('close', {
        parameters: { ...byId(id), summary: 'x', verdict: '={{ "splendid" }}' },
      }),
    );
    expect(error).toMatchObject({
      httpCode: '400',
      description: expect.stringContaining('Field: verdict.'),
    });
  });

  it('tells a wrong key from a wrong address', async () => {
    const wrongKey = await failureOf(
      conversation('getAll', {
        credential: { baseUrl: service().url, apiKey: `cs_live_${'x'.repeat(32)}` },
      }),
    );
    expect(wrongKey).toMatchObject({
      httpCode: '401',
      description: expect.stringContaining('valid API key'),
    });
    const nothing = await freeAddress();
    const wrongAddress = await failureOf(
      conversation('getAll', { credential: { baseUrl: nothing, apiKey: service().apiKey } }),
    );
    expect(wrongAddress.description).toContain(`Nothing answers at ${nothing} (ECONNREFUSED)`);
    expect(wrongAddress.context.itemIndex).toBe(0);
  });

  it('says so when something else answers, or the address redirects', async () => {
    const page = await startHttpServer((_req, res) =>
      res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works</h1>'),
    );
    const elsewhere: string[] = [];
    const other = await startHttpServer((req, res) => {
      elsewhere.push(String(req.headers.authorization));
      res.end('{}');
    });
    const redirect = await startHttpServer((_req, res) =>
      res.writeHead(301, { location: `${other.url}/api` }).end(),
    );
    try {
      const html = await failureOf(
        conversation('getAll', { credential: { baseUrl: page.url, apiKey: 'k' } }),
      );
      expect(html.message).toBe(
        'The base URL answers with status 200, but not as Conversation Service',
      );
      const moved = await failureOf(
        conversation('getAll', { credential: { baseUrl: redirect.url, apiKey: 'k' } }),
      );
      expect(moved.message).toBe(`The base URL redirects to ${other.url}/api`);
      expect(elsewhere).toEqual([]);
    } finally {
      await Promise.all([page.close(), redirect.close(), other.close()]);
    }
  });

  it('never sends the key over http to a host that is not local', async () => {
    const error = await failureOf(
      conversation('getAll', {
        credential: { baseUrl: 'http://conversations.example.com', apiKey: 'k' },
      }),
    );
    expect(error).toMatchObject({
      name: 'NodeOperationError',
      message:
        'The base URL must begin with https:// because conversations.example.com is not a local host',
      description: expect.stringContaining('others could read the API key'),
    });
  });

  it.each(['={{ "" }}', '../hooks', 'conv_1/close', 'conv 1', '?'])(
    'calls nothing for the ID "%s"',
    async (id) => {
      const calls: string[] = [];
      const spy = await startHttpServer((req, res) => {
        calls.push(req.url ?? '');
        res.end('{}');
      });
      try {
        const error = await failureOf(
          conversation('takeOver', {
            credential: { baseUrl: spy.url, apiKey: 'k' },
            parameters: byId(id),
          }),
        );
        expect(error).toMatchObject({
          name: 'NodeOperationError',
          context: { itemIndex: 0 },
          description: expect.stringContaining('$json'),
        });
        expect(calls).toEqual([]);
      } finally {
        await spy.close();
      }
    },
  );

  it('refuses an empty text before it calls', async () => {
    const error = await failureOf(
      conversation('sendMessage', { parameters: { ...byId('conv_1'), text: ' ' } }),
    );
    expect(error.message).toBe('The text of the message is empty');
  });

  it('goes on with the other items, each error in the place of its item, when told to', async () => {
    const { id } = await open();
    const { items, paired } = await conversation('get', {
      parameters: byId('={{ $json.id }}'),
      input: [{ id: 'conv_unknown' }, { id }, {}],
      node: { onError: 'continueRegularOutput' },
    });
    expect(items).toEqual([
      {
        error: expect.stringContaining('conv_unknown'),
        details: { code: 'not_found', fix: expect.stringContaining('Check the ID') },
      },
      expect.objectContaining({ id }),
      { error: 'The ID of the conversation is empty', details: { fix: expect.any(String) } },
    ]);
    expect(paired).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
  });

  it('sends failed items to the error output when there is one', async () => {
    const { id } = await open();
    const { items, errors } = await conversation('get', {
      parameters: byId('={{ $json.id }}'),
      input: [{ id: 'conv_unknown' }, { id }],
      node: { onError: 'continueErrorOutput' },
    });
    expect(items).toEqual([expect.objectContaining({ id })]);
    expect(errors).toEqual([
      expect.objectContaining({
        id: 'conv_unknown',
        error: expect.stringContaining('conv_unknown'),
      }),
    ]);
  });

  it('names the item that failed', async () => {
    const { id } = await open();
    const error = await failureOf(
      conversation('get', {
        parameters: byId('={{ $json.id }}'),
        input: [{ id }, { id: 'conv_unknown' }],
      }),
    );
    expect(error.context.itemIndex).toBe(1);
  });
});
