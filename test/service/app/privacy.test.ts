import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestHandler } from 'express';
import { pino } from 'pino';
import { memoryLimiters } from '../../../service/src/platform/limits/memoryLimiter.ts';
import { LiveFeed } from '../../../service/src/app/screens/liveFeed.ts';
import { createKeywordAgent } from '../../../service/src/agent/keyword/keywordAgent.ts';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import {
  EMITTED_EVENTS,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { readConfig } from '../../../service/src/app/config.ts';
import type { ServiceMetrics } from '../../../service/src/app/serviceMetrics.ts';
import { testDeps } from '../../helpers/testDeps.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const PHONE = '5491155550134';
const EMAIL = 'maria.lopez@example.com';

describe('what must not get out', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let log = '';
  let conversationId: string;
  let secrets: string[];
  const answers: string[] = [];

  beforeAll(async () => {
    receiver = await startEventReceiver(
      (_request, response) =>
        void response.writeHead(receiver.requests.length % 3 === 0 ? 500 : 200).end('ok'),
    );
    service = await startTestService({
      ca: receiver.ca,
      log: pino({ level: 'trace' }, { write: (line) => void (log += line) }),
    });
    secrets = [];
    let hook = '';
    for (const event of EMITTED_EVENTS) {
      const { id, secret } = await receiver.subscribe(service, event);
      secrets.push(secret);
      hook = id;
    }
    secrets.push((await service.api.post(`/api/hooks/${hook}/rotate-secret`)).body.secret);

    const said = `I am ${EMAIL.toUpperCase()} and +54 9 11 5555-0134, that is 011 5555 0134; order 77001122`;
    const customer = await chatCustomer(service.url, {
      name: `+54 9 11 5555 0134`,
      email: EMAIL,
      phone: '+54 9 11 5555 0134',
    });
    ({ conversation_id: conversationId } = await customer.write(said, `id-${PHONE}`));
    secrets.push(customer.token, service.apiKey);
    const path = `/api/conversations/${conversationId}`;
    const keep = (answer: { body: unknown }) => answers.push(JSON.stringify(answer.body));
    const text = `We wrote to ${EMAIL} and ring ${PHONE}`;
    keep(await service.api.post(`${path}/messages`, { text }));
    keep(await service.api.patch(path, { funnel_stage: 'qualified' }));
    const closing = { summary: `Reached at +${PHONE} or ${EMAIL}`, verdict: 'goal_reached' };
    keep(await service.api.post(`${path}/close`, closing));
    keep(await service.api.get(path));
    keep(await service.api.get('/api/conversations'));
    keep(await service.api.post('/api/contacts/lookup', { email: EMAIL }));
    keep(await service.api.post('/api/contacts/lookup', { phone: PHONE }));
    const query = `cursor=${encodeURIComponent(EMAIL)}&phone=${PHONE}`;
    keep(await service.api.get(`/api/conversations?${query}`));
    const claims = { email: `${EMAIL} `, phone: `${PHONE}${PHONE}` };
    keep(await apiClient(service.url, null).post('/api/chat/sessions', claims));
    keep(await service.api.post('/api/contacts/lookup', `{"email":"${EMAIL}",`));
    keep(await service.api.get(`/api/hooks/${hook}/deliveries`));
    for (const path of [
      `/api/hooks/${service.apiKey}`,
      `/api/${EMAIL}`,
      `/${service.apiKey}`,
      `/api/conversations/%2B${PHONE}`,
      `/api/conversations/${PHONE}/x`,
      `/setup/${EMAIL}`,
    ]) {
      await service.api.get(path);
    }
    await waitFor(
      'all six events',
      () => new Set(receiver.payloads().map(({ event }) => event)).size === 6,
    );
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const DETAILS = /5491155550134|9?11[\s-]?5555[\s-]?0134|lopez|MARIA/i;

  it('no payload of any event holds a phone or an e-mail, in any field', () => {
    for (const { rawBody } of receiver.requests) expect(rawBody.toString()).not.toMatch(DETAILS);
    const received = receiver.payloads('message.received')[0];
    expect(received.conversation).toMatchObject({
      contact_display: '+54•••••••••34',
      contact_name: '+54•••••••••34',
    });
    expect(received.message.sender.name).toBe('+54•••••••••34');
    expect(received.message.text).toContain('order 77001122');
    expect(received.message.channel_message_id).toBe('id-+54•••••••••34');
  });

  it('nor does any answer of the API', () => {
    for (const answer of answers) expect(answer).not.toMatch(DETAILS);
  });

  it('no log line holds a key, token, secret, phone, e-mail or text, at any level', async () => {
    expect(log).toContain('request completed');
    expect(log).toContain('"req_');
    expect(log).toContain(`"path":"/api/conversations/${conversationId}/close"`);
    expect(log).not.toMatch(DETAILS);
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).not.toContain('order 77001122');
  });

  it('an internal error reveals nothing of the inside', async () => {
    const { createApp } = await import('../../../service/src/app/createApp.ts');
    const broken = createApp({
      config: readConfig({}),
      deps: testDeps({
        store: {
          transaction: () => Promise.reject(new Error('inner detail /var/secret')),
        } as never,
        agent: { quietMs: 0, approvalExpiresMs: 1 },
      }),
      log: pino({ level: 'silent' }),
      health: {
        storeFault: () => null,
        storeWarning: () => null,
        sinceLastTurnMs: () => 0,
        longestStallMs: () => 0,
      },
      limiters: memoryLimiters,
      metrics: {
        requests: ((_request, _response, next) => next()) satisfies RequestHandler,
        waits: { collected() {} },
        read: async () => ({ contentType: 'text/plain', text: '' }),
      } as unknown as ServiceMetrics,
      chatFeed: { listen: () => () => {}, has: () => false },
      followToolCall: () => Promise.reject(new Error('not here')),
      followPayment: () => Promise.reject(new Error('not here')),
      model: { name: 'keyword', host: null, timeoutMs: 1000, model: createKeywordAgent() },
      live: new LiveFeed(),
      n8n: { fromEnvironment: null } as never,
      setup: {
        isValid: async () => false,
        workspaceName: async () => null,
        complete: async () => null,
      },
      connectionShares: null,
      stopping: new AbortController().signal,
    });
    const server = broken.app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      const { port } = server.address() as { port: number };
      const { status, body } = await apiClient(`http://127.0.0.1:${port}`, service.apiKey).get(
        '/api/hooks',
      );
      expect([status, body.error.code]).toEqual([500, 'internal']);
      expect(JSON.stringify(body)).not.toContain('inner detail');
    } finally {
      server.close();
    }
  });
});
