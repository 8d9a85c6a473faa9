import { describe, expect, it } from '@jest/globals';
import { byId, useService } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';
import { freeAddress, startHttpServer, startWebPage } from '../helpers/strangers.ts';

const { open, resource, service, wire } = useService();
const conversation = resource('conversation');
const failure = (...run: Parameters<typeof conversation>) => failureOf(conversation(...run));
/** The error when the credential has this address. */
const failureAt = (baseUrl: string, apiKey = 'k') =>
  failure('getAll', { credential: { baseUrl, apiKey } });

describe('When something is wrong', () => {
  it('shows the service’s own message, a fix and the request ID', async () => {
    const { id } = await open();
    const closing = { summary: 'x', verdict: 'unknown' };
    const parameters = { ...byId(id), ...closing };
    await conversation('close', { parameters });
    const error = await failure('close', { parameters, executionId: '2' });
    const { body } = await service().api.post(`/api/conversations/${id}/close`, closing);
    expect(error).toMatchObject({
      name: 'NodeApiError',
      message: body.error.message,
      httpCode: '409',
    });
    expect(error.description).toMatch(/Find by Contact.*Request ID: req_/);
  });

  it('names the field at fault', async () => {
    const { id } = await open();
    const parameters = { ...byId(id), summary: 'x', verdict: '={{ "splendid" }}' };
    expect(await failure('close', { parameters })).toMatchObject({
      httpCode: '400',
      description: expect.stringContaining('Field: verdict.'),
    });
  });

  it('tells a wrong key from a wrong address', async () => {
    expect(await failureAt(service().url, `cs_live_${'x'.repeat(32)}`)).toMatchObject({
      httpCode: '401',
      description: expect.stringContaining('valid API key'),
    });
    const nothing = await freeAddress();
    const wrongAddress = await failureAt(nothing, service().apiKey);
    expect(wrongAddress.description).toContain(`Nothing answers at ${nothing} (ECONNREFUSED)`);
    expect(wrongAddress.context.itemIndex).toBe(0);
  });

  it('says so when something else answers, or the address redirects', async () => {
    const page = await startWebPage();
    const elsewhere: string[] = [];
    const other = await startHttpServer((req, res) => {
      elsewhere.push(String(req.headers.authorization));
      res.end('{}');
    });
    const redirect = await startHttpServer((_req, res) =>
      res.writeHead(301, { location: `${other.url}/api` }).end(),
    );
    try {
      expect((await failureAt(page.url)).message).toBe(
        'The base URL answers with status 200, but not as Conversation Service',
      );
      expect((await failureAt(redirect.url)).message).toBe(
        `The base URL redirects to ${other.url}/api`,
      );
      expect(elsewhere).toEqual([]);
      expect((await failureAt(other.url)).message).toBe(
        'The base URL answers with status 200, but not as Conversation Service',
      );
    } finally {
      await Promise.all([page.close(), redirect.close(), other.close()]);
    }
  });

  it('never sends the key over http to a host that is not local', async () => {
    expect(await failureAt('http://conversations.example.com')).toMatchObject({
      name: 'NodeOperationError',
      message:
        'The base URL must begin with https:// because conversations.example.com is not a local host',
      description: expect.stringContaining('others could read the API key'),
    });
  });

  it.each(['={{ "" }}', '../hooks', 'conv_1/close', 'conv 1', '?'])(
    'calls nothing for the ID "%s"',
    async (id) => {
      expect(await failure('takeOver', { parameters: byId(id) })).toMatchObject({
        name: 'NodeOperationError',
        context: { itemIndex: 0 },
        description: expect.stringContaining('$json'),
      });
      expect(wire().seen).toEqual([]);
    },
  );

  it('refuses an empty text before it calls', async () => {
    const parameters = { ...byId('conv_1'), text: ' ' };
    expect((await failure('sendMessage', { parameters })).message).toBe(
      'The text of the message is empty',
    );
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
    expect(errors).toMatchObject([
      { id: 'conv_unknown', error: expect.stringContaining('conv_unknown') },
    ]);
  });

  it('names the item that failed', async () => {
    const { id } = await open();
    const error = await failure('get', {
      parameters: byId('={{ $json.id }}'),
      input: [{ id }, { id: 'conv_unknown' }],
    });
    expect(error.context.itemIndex).toBe(1);
  });
});
