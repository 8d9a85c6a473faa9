// What a member reads of the owners' areas: no secrets, and nothing that leads to a refusal.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, type Browserless, type Page } from '../../../helpers/browserless.ts';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { connectNumber, type ConnectedNumber } from '../../../helpers/meta.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { teamOfTwo } from '../../../helpers/teamOfTwo.ts';
import { startToolEndpoint, type ToolEndpoint } from '../../../helpers/toolEndpoint.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const START_PAGES = [
  ...['/conversations', '/waiting', '/overview', '/tools', '/agent', '/channels', '/payments'],
  ...['/keys', '/team', '/settings', '/settings/canned-replies', '/account', '/examples'],
];
/** Paths that are not pages of the team. */
const NOT_OF_THE_TEAM = /^\/(assets|chat|api|pay|sign-out|live)(?![\w-])/;

/** A section, or a row of buttons, with nothing in it. A cell of a table may be empty. */
const EMPTY_PART = /<section aria[^>]*><\/section>|<(p|div) class="row"><\/\1>(?!<\/td>)/;

describe('a member', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let endpoint: ToolEndpoint;
  let number: ConnectedNumber;
  let ana: Browserless;
  let ben: Browserless;
  let hook: string;
  let tool: string;

  beforeAll(async () => {
    [receiver, endpoint] = await Promise.all([
      startEventReceiver((_request, response) => void response.writeHead(500).end()),
      startToolEndpoint(),
    ]);
    service = await startTestService({ env: MEMBER_ENV, ca: receiver.ca });
    ({ ana, ben } = await teamOfTwo(service, 'member'));
    const { api, url } = service;
    number = await connectNumber(api);
    await api.call('PUT', '/api/payment-accounts/manual', { settings: { instructions: 'Pay.' } });
    await api.patch('/api/agent', { instructions: 'Be brief and kind.', languages: ['es', 'en'] });
    ({ id: tool } = await endpoint.define(api, {
      name: 'find_order',
      description: 'Finds an order.',
    }));
    ({ id: hook } = await receiver.subscribe(service, 'conversation.opened'));
    await (await chatCustomer(url, { name: 'Maria' })).write('hello');
    await waitFor(
      'a delivery to fail',
      async () =>
        (await api.get(`/api/hooks/${hook}/deliveries?status=failed`)).body.data.length > 0,
    );
  });
  afterAll(async () => {
    await service?.stop();
    await Promise.all([receiver?.close(), endpoint?.close()]);
  });

  it('finds no link that leads to a refusal, and no form that cannot be sent', async () => {
    const pages = await readAll(ben);
    const refused = pages.filter(({ status }) => status === 403).map(({ path }) => path);
    expect(refused).toEqual([]);
    for (const { path, text, html } of pages) {
      expect([path, text]).not.toEqual([path, expect.stringContaining('Only an owner can change')]);
      expect([path, EMPTY_PART.exec(html)?.[0]]).toEqual([path, undefined]);
    }
  });

  it('reads no verify token and no signature, although an owner does', async () => {
    const delivery = await deliveryOf(ana);
    const { html } = await ana.get(delivery);
    const [, signature] = /webhook-signature: (v1,[\w+/=]+)/.exec(html)!;
    expect((await ana.get(`/channels/${number.id}`)).html).toContain(number.verifyToken);
    const pages = await readAll(ben);
    expect(pages.map(({ path }) => path)).toContain(delivery);
    for (const page of pages) {
      expect([page.path, page.html.includes(number.verifyToken)]).toEqual([page.path, false]);
      expect([page.path, page.html.includes(signature!)]).toEqual([page.path, false]);
    }
  });

  const deliveryOf = async (browser: Browserless): Promise<string> => {
    const { html } = await browser.get(`/keys/subscriptions/${hook}`);
    return /href="(\/keys\/subscriptions\/\w+\/deliveries\/\w+)"/.exec(html)![1]!;
  };

  it('reads how the agent and a channel are set, and who can change it', async () => {
    const agent = await ben.get('/agent');
    for (const words of ['Be brief and kind.', 'Spanish, English', 'An owner can change these'])
      expect(agent.text).toContain(words);
    const channel = await ben.get(`/channels/${number.id}`);
    expect(channel.text).toContain(number.account);
    expect(channel.text).toContain(
      'An owner can set up, test, change and disconnect this account.',
    );
    expect((await ben.get('/payments')).text).toContain('Manual');
  });

  it('reads who can create keys, subscriptions and tools, and resend what failed', async () => {
    const keys = await ben.get('/keys');
    expect(keys.text).toContain('An owner can create, change and revoke API keys.');
    expect(keys.text).toContain('An owner can create, change and remove subscriptions.');
    expect(keys.html).not.toContain('open-form');
    const subscription = await ben.get(`/keys/subscriptions/${hook}`);
    expect(subscription.text).toContain('One event has not arrived. An owner can resend it.');
    expect((await ben.get('/tools')).text).toContain('An owner can create and change tools.');
    expect((await ben.get(`/tools/${tool}`)).text).toContain('An owner can test, change, pause');
  });
});

/** The pages that the browser's user can reach by links, each once. */
async function readAll(browser: Browserless): Promise<Page[]> {
  const waiting = [...START_PAGES];
  const found = new Map<string, Page>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path) || NOT_OF_THE_TEAM.test(path)) continue;
    const page = await browser.get(path);
    found.set(path, { ...page, path });
    waiting.push(...linksOf(page));
  }
  return [...found.values()];
}

const linksOf = ({ html }: Page): string[] =>
  [...html.matchAll(/<a [^>]*href="(\/[^"#]*)/g)].map(([, href]) => href!.replaceAll('&amp;', '&'));
