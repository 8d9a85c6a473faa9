// The built service as a real process, with a real proxy in every variable that names one.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { startForwardProxy, type ForwardProxy } from '../../../helpers/forwardProxy.ts';
import { startGraphServer, type GraphServer } from '../../../helpers/graphServer.ts';
import { startModelServer, text, type ModelServer } from '../../../helpers/modelServer.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { startStripeServer, type StripeServer } from '../../../helpers/stripeServer.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../../helpers/tls.ts';
import { startToolEndpoint, type ToolEndpoint } from '../../../helpers/toolEndpoint.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { connectWhatsApp } from '../../channels/whatsapp/whatsappTalk.ts';
import { setUpStripe } from '../../payments/stripe/stripeSupport.ts';
import { makeLink, newConversation } from '../../payments/support.ts';

const hostOf = ({ port }: { readonly port: number }) => [`localhost:${port}`, `127.0.0.1:${port}`];

describe('with a proxy in every variable', () => {
  let proxy: ForwardProxy;
  let tls: TlsFiles;
  let receiver: EventReceiver;
  let endpoint: ToolEndpoint;
  let graph: GraphServer;
  let stripe: StripeServer;
  let model: ModelServer;
  let service: ServiceProcess;

  beforeAll(async () => {
    proxy = await startForwardProxy();
    tls = await writeTlsFiles(await sharedTestCa());
    receiver = await startEventReceiver();
    endpoint = await startToolEndpoint();
    graph = await startGraphServer();
    stripe = await startStripeServer();
    model = await startModelServer();
    model.answerBy(() => text('Good morning.'));
    const names = [
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'ALL_PROXY',
      'npm_config_proxy',
      'npm_config_https_proxy',
      'GLOBAL_AGENT_HTTP_PROXY',
      'SOCKS_PROXY',
    ];
    const variables = Object.fromEntries(
      names.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, proxy.url]),
    );
    service = await startServiceProcess({
      caFile: tls.caFile,
      env: {
        ...variables,
        NODE_USE_ENV_PROXY: '1',
        NO_PROXY: '',
        no_proxy: '',
        GRAPH_API_URL: graph.url,
        STRIPE_API_URL: stripe.url,
        LLM_BASE_URL: model.url,
        LLM_API_KEY: model.apiKey,
        LLM_MODEL: model.model,
        AGENT_QUIET_MS: '0',
      },
    });
  });
  afterAll(async () => {
    await service?.close();
    for (const each of [model, stripe, graph, endpoint, receiver, proxy]) await each?.close();
    await tls?.remove();
  });

  it('events, tools and WhatsApp go straight to their addresses; only the model and Stripe go as NODE_USE_ENV_PROXY says', async () => {
    await service.api.patch('/api/agent', { enabled: true });
    await receiver.subscribe(service, 'message.received');
    const customer = await chatCustomer(service.url);
    await customer.write('Good morning');
    await receiver.payload('message.received');

    const webhook = await endpoint.define(service.api, { name: 'find_order' });
    const http = await endpoint.defineHttp(service.api, { name: 'check_stock' });
    for (const { id } of [webhook, http]) {
      const tested = await service.api.post(`/api/tools/${id}/test`, { arguments: {} });
      expect(tested.body.status).toBe('succeeded');
    }

    const account = await connectWhatsApp(service, graph);
    const onWhatsApp = await account.customer('14155552101');
    expect((await onWhatsApp.reply('Hello')).status).toBe(201);
    await onWhatsApp.delivery(1, 'sent');

    await setUpStripe(service, stripe);
    await makeLink(service, await newConversation(service));
    await waitFor('Stripe', () => stripe.requests.length > 0);
    await waitFor('the model', () => model.requests.length > 0);

    const direct = [receiver, endpoint, graph].flatMap(hostOf);
    expect(proxy.asked.filter((host) => direct.includes(host))).toEqual([]);
    // Servers whose address the environment sets are called through its proxy, which also shows that
    // the proxy works.
    const viaProxy = new Set(proxy.asked.map((host) => host.split(':')[1]));
    expect(viaProxy).toEqual(new Set([stripe, model].map(({ port }) => String(port))));
  });

  it('a private address is refused, and the proxy is not asked for it', async () => {
    proxy.forget();
    for (const target_url of [
      'https://10.0.0.1/',
      'https://[fd00::1]/',
      'https://169.254.169.254/',
    ]) {
      const subscription = { event: 'message.sent', target_url, source: 'test' };
      const { status, body } = await service.api.post('/api/hooks', subscription);
      expect([status, body.error.code]).toEqual([422, 'target_url_not_public']);
    }
    expect(proxy.asked).toEqual([]);
  });
});
