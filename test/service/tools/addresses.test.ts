import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { startTestService, type TestService } from '../../helpers/service.ts';
import {
  agentSays,
  ask,
  callIn,
  makeLive,
  redirect,
  startToolEndpoint,
  TOOL_TEST_ENV,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { sharedTestCa } from '../../helpers/tls.ts';
import { nextName, type Kind } from './toolService.ts';

/** The addresses that each name resolves to. Tests change them, as they could not with real DNS. */
const names = new Map<string, string[]>();
const lookup = (name: string) => {
  const addresses = names.get(name);
  if (addresses === undefined)
    return Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
  return Promise.resolve(
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
};
const realLookup = dns.lookup;
const useLookup = (used: unknown) => {
  Object.assign(dns, { lookup: used });
  syncBuiltinESMExports();
};

describe('the address of a tool, at each call', () => {
  let service: TestService;
  let endpoint: ToolEndpoint;
  /** Outside ALLOWED_NETWORKS, so no call may reach it. */
  let inside: ToolEndpoint;

  beforeAll(async () => {
    useLookup(lookup);
    const ca = await sharedTestCa();
    const certificate = await ca.issue({
      dnsNames: ['shop.test', 'localhost'],
      ips: ['127.0.0.1', '127.0.0.2'],
    });
    endpoint = await startToolEndpoint({ certificate });
    inside = await startToolEndpoint({ certificate, host: '127.0.0.2', port: endpoint.port });
    names.set('localhost', ['127.0.0.1']);
    service = await startTestService({
      ca: ca.ca,
      env: { ...TOOL_TEST_ENV, ALLOWED_NETWORKS: '127.0.0.1/32' },
    });
  });
  afterEach(() => {
    endpoint.forget();
    expect([inside.requests.length, inside.acceptedSockets]).toEqual([0, 0]);
  });
  afterAll(async () => {
    useLookup(realLookup);
    await service?.stop();
    await endpoint?.close();
    await inside?.close();
  });

  const shop = () => `https://shop.test:${endpoint.port}`;
  const define = async (kind: Kind, url: string): Promise<DefinedTool> => {
    const { name, path } = nextName();
    const fields =
      kind === 'Webhook'
        ? { endpoint: url + path }
        : { request_template: { method: 'GET', url: url + path } };
    const defineKind = kind === 'Webhook' ? endpoint.define : endpoint.defineHttp;
    return defineKind(service.api, { name, ...fields }, path);
  };
  const testCall = async ({ id }: DefinedTool) =>
    (await service.api.post(`/api/tools/${id}/test`, {})).body;
  const remove = ({ id }: DefinedTool) => service.api.delete(`/api/tools/${id}`);
  const blocked = {
    status: 'failed',
    attempts: 1,
    http_status: null,
    result: null,
    error: { type: 'blocked_address' },
  };

  describe.each(['Webhook', 'HTTP'] as const)('%s kind', (kind) => {
    it.each([
      ['loopback', '127.0.0.2'],
      ['a private address', '10.0.0.1'],
      ['the metadata service', '169.254.169.254'],
      ['no address at all', '0.0.0.0'],
      ['loopback as an IPv4-mapped IPv6 address', '::ffff:127.0.0.2'],
    ])('is not called when its name leads to %s after it was saved', async (_what, address) => {
      names.set('shop.test', ['127.0.0.1']);
      const tool = await define(kind, shop());
      names.set('shop.test', [address]);
      expect(await testCall(tool)).toMatchObject(blocked);
      names.set('shop.test', ['127.0.0.1', address]);
      expect(await testCall(tool)).toMatchObject(blocked);
      expect(endpoint.requests).toHaveLength(0);
      await remove(tool);
    });

    it('is not called for the agent either, which tells the customer that it could not do it', async () => {
      const tool = await define(kind, `https://localhost:${endpoint.port}`);
      await makeLive(service.api, tool);
      endpoint.forget();
      await service.restart({ ALLOWED_NETWORKS: '10.0.0.0/8' });
      const { customer, conversationId } = await ask(service.url, tool);
      expect(await agentSays(customer)).toBe(
        'I could not do that right now. Would you like a person to follow up?',
      );
      expect(
        await callIn(service.api, `conversation_id=${conversationId}`, 'failed'),
      ).toMatchObject(blocked);
      expect(endpoint.requests).toHaveLength(0);
      await service.restart({ ALLOWED_NETWORKS: '127.0.0.1/32' });
      await remove(tool);
    });

    it('is tried again when its name does not resolve', async () => {
      names.set('shop.test', ['127.0.0.1']);
      const tool = await define(kind, shop());
      names.delete('shop.test');
      expect(await testCall(tool)).toMatchObject({
        status: 'failed',
        attempts: 3,
        error: { type: 'network' },
      });
      expect(endpoint.requests).toHaveLength(0);
      await remove(tool);
    });

    it('must have a certificate for its name', async () => {
      names.set('other.test', ['127.0.0.1']);
      const tool = await define(kind, `https://other.test:${endpoint.port}`);
      expect(await testCall(tool)).toMatchObject({
        status: 'failed',
        attempts: 3,
        error: { type: 'network' },
      });
      expect(endpoint.requests).toHaveLength(0);
      await remove(tool);
    });
  });

  it.each([
    ['https://127.0.0.2:PORT/x', 'blocked_address'],
    ['https://169.254.169.254/latest/meta-data', 'blocked_address'],
    ['https://[::ffff:169.254.169.254]/', 'blocked_address'],
    ['https://10.0.0.1/', 'blocked_address'],
    ['https://2130706434:PORT/', 'blocked_address'],
    ['https://shop.test:PORT/', 'blocked_address'],
    ['http://127.0.0.1:PORT/x', 'redirect'],
    ['file:///etc/passwd', 'redirect'],
  ])('a redirect to %s is not followed, and there is no other attempt', async (location, type) => {
    names.set('shop.test', ['127.0.0.2']);
    const tool = await define('HTTP', `https://localhost:${endpoint.port}`);
    endpoint.answer(tool.path, redirect(location.replace('PORT', String(endpoint.port))));
    expect(await testCall(tool)).toMatchObject({
      status: 'failed',
      attempts: 1,
      http_status: null,
      error: { type },
    });
    expect(endpoint.requests).toHaveLength(1);
    await remove(tool);
  });
});
