import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  ICredentialTestFunction,
  IHttpRequestOptions,
  INodeCredentialTestResult,
} from 'n8n-workflow';
import type * as errorsFile from '../../nodes/ConversationService/api/errors';
import { MEMBER_ENV, signedInBrowser } from '../helpers/browserless.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { startTlsReceiver } from '../helpers/tls.ts';
import {
  ACTION,
  actionNode,
  additionalData,
  agentTriggerNode,
  core,
  credentialType,
  ourNode,
  runAction,
  toolTriggerNode,
  triggerNode,
  workflow,
  workflowWith,
} from './helpers/n8n.ts';
import { builtFile } from './helpers/builtFile.ts';
import { freeAddress, startHttpServer, startWebPage } from './helpers/strangers.ts';

const { describeConnectionFailure } = builtFile<typeof errorsFile>('api/errors');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: MEMBER_ENV });
});
afterAll(() => service.stop());

/** Runs the test as n8n does, in its own context. */
function test(data: { baseUrl: string; apiKey: string }): Promise<INodeCredentialTestResult> {
  const testedBy = actionNode.description.credentials![0]!.testedBy as string;
  const method = actionNode.methods!.credentialTest![testedBy] as ICredentialTestFunction;
  const context = new core.CredentialTestContext({} as never);
  return method.call(context, { id: '1', name: 'Test', type: credentialType.name, data });
}

const errorLike = (message: RegExp) => ({
  status: 'Error',
  message: expect.stringMatching(message),
});

describe('The test of the credential', () => {
  it.each([triggerNode, toolTriggerNode, agentTriggerNode])(
    'is the same for $description.displayName as for the action node',
    ({ methods, description }) => {
      expect(methods!.credentialTest).toEqual(actionNode.methods!.credentialTest);
      expect(description.credentials).toEqual(actionNode.description.credentials);
    },
  );

  it('succeeds with the right address and key, blanks around them or not', async () => {
    for (const [baseUrl, apiKey] of [
      [service.url, service.apiKey],
      [` ${service.url}/ `, ` ${service.apiKey}\n`],
    ] as const) {
      expect(await test({ baseUrl, apiKey })).toEqual({
        status: 'OK',
        message: 'Connected to Conversation Service.',
      });
    }
  });

  it('succeeds with a key that is limited to a part of the API', async () => {
    const browser = await signedInBrowser(service.url);
    const values = { name: 'limited', access: 'chosen', area_conversations: 'write' };
    const { html } = await browser.post('/keys', values);
    const [apiKey] = /cs_live_\w{32}/.exec(html)!;
    expect(await test({ baseUrl: service.url, apiKey })).toMatchObject({ status: 'OK' });
  });

  it('says that the key is wrong, and the address right', async () => {
    const apiKey = `cs_live_${'x'.repeat(32)}`;
    expect(await test({ baseUrl: service.url, apiKey })).toEqual(
      errorLike(/address is right, but the API key is not valid/),
    );
    expect(await test({ baseUrl: service.url, apiKey: '' })).toEqual({
      status: 'Error',
      message: 'The API key is empty.',
    });
  });

  it('says that nothing answers at the address', async () => {
    const baseUrl = await freeAddress();
    expect(await test({ baseUrl, apiKey: service.apiKey })).toEqual(
      errorLike(
        /^Nothing answers at .* \(ECONNREFUSED\)\. Check the base URL.*host\.docker\.internal/,
      ),
    );
    const unknown = await test({ baseUrl: 'https://conversations.invalid', apiKey: 'k' });
    expect(unknown.message).toMatch(/^Nothing answers at https:\/\/conversations\.invalid/);
  });

  it('says that something else answers', async () => {
    const page = await startWebPage();
    const missing = await startHttpServer((_req, res) => res.writeHead(404).end());
    try {
      for (const { url } of [page, missing]) {
        expect(await test({ baseUrl: url, apiKey: 'k' })).toEqual(
          errorLike(/but not as Conversation Service/),
        );
      }
      expect((await test({ baseUrl: `${service.url}/api`, apiKey: service.apiKey })).status).toBe(
        'Error',
      );
    } finally {
      await Promise.all([page.close(), missing.close()]);
    }
  });

  it('says that the certificate is not trusted, and how to make it so', async () => {
    const server = await startTlsReceiver();
    try {
      expect(await test({ baseUrl: server.url, apiKey: 'k' })).toEqual(
        errorLike(/does not trust the certificate.*NODE_EXTRA_CA_CERTS/),
      );
    } finally {
      await server.close();
    }
  });

  it.each([
    ['CERT_HAS_EXPIRED', /has expired.*Renew it/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /is for another host name.*Enter the name/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /does not trust.*NODE_EXTRA_CA_CERTS/],
  ])('says what to do about a certificate refused with %s', (code, message) => {
    expect(describeConnectionFailure(code, 'https://a.example')).toMatch(message);
  });

  it('asks for https before it sends the key anywhere', async () => {
    const baseUrl = 'http://conversations.example.com';
    expect(await test({ baseUrl, apiKey: 'k' })).toEqual(errorLike(/must begin with https:\/\//));
  });
});

describe('The credential', () => {
  const authenticate = (request: IHttpRequestOptions, apiKey = 'cs_live_1') => {
    if (typeof credentialType.authenticate !== 'function') throw new Error('expected a function');
    return credentialType.authenticate({ baseUrl: 'https://a.example', apiKey }, request);
  };

  it('sends the key as a Bearer token and keeps the request’s own headers', async () => {
    const request = { url: 'https://a.example/api/hooks', headers: { 'Idempotency-Key': '1' } };
    expect(await authenticate(request, ' cs_live_1 ')).toEqual({
      ...request,
      headers: { 'Idempotency-Key': '1', Authorization: 'Bearer cs_live_1' },
    });
    expect(request.headers).toEqual({ 'Idempotency-Key': '1' });
  });

  it('refuses to send it in the clear to another host, also from the HTTP Request node', async () => {
    await expect(authenticate({ url: 'http://a.example/api/hooks' })).rejects.toThrow(/over https/);
    await expect(authenticate({ baseURL: 'http://a.example', url: '/api/hooks' })).rejects.toThrow(
      /over https/,
    );
    await expect(authenticate({ url: 'http://localhost:3000/api/hooks' })).resolves.toBeDefined();
  });

  it.each([
    [{ uri: 'http://a.example/api/hooks' }, /over https/],
    [{ baseURL: 'http://localhost:3000', url: 'http://a.example/api/hooks' }, /over https/],
    [{ baseURL: 'http://localhost:3000', url: '//a.example/api/hooks' }, /over https/],
    [{ uri: 'a.example/api/hooks' }, /is not a web address/],
    [{}, /is not a web address/],
  ])('is not sent with the request %j', async (request, message) => {
    await expect(authenticate(request as never)).rejects.toThrow(message);
  });

  it('is sent by the HTTP Request node, but to another host over https only', async () => {
    const parameters = { resource: 'conversation', operation: 'getAll' };
    const node = ourNode(ACTION, parameters);
    const data = additionalData(() => ({ baseUrl: service.url, apiKey: service.apiKey }));
    const context = new core.ExecuteSingleContext(
      workflowWith(node),
      node,
      data,
      'manual',
      workflow.createRunExecutionData({}),
      0,
      [{ json: {} }],
      { main: [[{ json: {} }]] },
      0,
      { node, data: {}, source: null },
    );
    // As the HTTP Request node calls it: with `uri`.
    const get = (uri: string) =>
      context.helpers.requestWithAuthentication.call(context, credentialType.name, {
        method: 'GET',
        uri,
        json: true,
      });
    expect(await get(`${service.url}/api/hooks`)).toMatchObject({ data: [] });
    const insecure = get('http://conversations.invalid/api/hooks');
    await expect(insecure).rejects.toMatchObject({ message: expect.stringMatching(/over https/) });
  });

  it('of an expression is read for each item: its address gets no other item’s key', async () => {
    const keys: unknown[] = [];
    const other = await startHttpServer((req, res) => {
      keys.push(req.headers.authorization);
      res.setHeader('content-type', 'application/json').end('{"data":[],"next_cursor":null}');
    });
    try {
      await runAction({
        credential: { baseUrl: '={{ $json.url }}', apiKey: '={{ $json.key }}' },
        resource: 'conversation',
        operation: 'getAll',
        input: [
          { url: service.url, key: service.apiKey },
          { url: other.url, key: 'cs_live_other' },
        ],
      });
      expect(keys).toEqual(['Bearer cs_live_other']);
    } finally {
      await other.close();
    }
  });

  it('hides the key and suggests the address of a fresh service', () => {
    const property = (name: string) =>
      credentialType.properties.find((each) => each.name === name)!;
    expect(property('apiKey').typeOptions).toEqual({ password: true });
    expect(property('baseUrl').default).toBe('http://localhost:3000');
  });
});
