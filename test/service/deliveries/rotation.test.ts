import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import type { ReceiverHandler } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const HOUR_MS = 3_600_000;

describe('rotating the secret of a subscription', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let customer: ChatCustomer & { readonly at: string };
  let answer: ReceiverHandler;
  let skewMs: number;
  const now = () => Date.now() + skewMs;

  beforeEach(async () => {
    skewMs = 0;
    answer = (_request, response) => void response.end('ok');
    receiver = await startEventReceiver((request, response, raw) => answer(request, response, raw));
    service = await startTestService({ ca: receiver.ca, clock: { now: () => new Date(now()) } });
    customer = { ...(await chatCustomer(service.url)), at: service.url };
  });
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const write = async (text: string) => {
    if (customer.at !== service.url)
      customer = { ...(await chatCustomer(service.url)), at: service.url }; // after a restart
    await customer.write(text);
  };
  const rotate = async (id: string) => {
    const { status, body } = await service.api.post(`/api/hooks/${id}/rotate-secret`);
    expect({ status, body }).toMatchObject({ status: 200 });
    expect(body.notice).toContain('publish it again');
    return body as { secret: string; previous_secret_expires_at: string };
  };
  const revoke = async (id: string) =>
    (await service.api.post(`/api/hooks/${id}/revoke-previous-secrets`)).body;
  /** Writes a message and says of each secret whether it signed the request. */
  const signing = async (...secrets: string[]) => {
    const before = receiver.requests.length;
    await write(randomUUID());
    const request = await waitFor('a request', () => receiver.requests[before]);
    return secrets.map((secret) => signatureFault(request, secret, now()) === null);
  };
  const newestSignatureCount = () =>
    String(receiver.requests.at(-1)!.headers['x-service-signature']).split(',v1=').length - 1;

  it('twice in a row leaves three secrets that sign, the newest first; each replaced one stops after its own 24 hours', async () => {
    const { id, secret: first } = await receiver.subscribe(service, 'message.received');
    const { secret: second } = await rotate(id);
    skewMs = 10 * HOUR_MS;
    const { secret: third, previous_secret_expires_at: ends } = await rotate(id);
    expect(Math.abs(Date.parse(ends) - now() - 24 * HOUR_MS)).toBeLessThan(60_000);
    expect(await signing(first, second, third)).toEqual([true, true, true]);
    const [newest] = String(receiver.requests.at(-1)!.headers['x-service-signature'])
      .split(',v1=')
      .slice(1);
    const alone = {
      ...receiver.requests.at(-1)!,
      headers: {
        'x-service-signature': `${String(receiver.requests.at(-1)!.headers['x-service-signature']).split(',')[0]},v1=${newest}`,
      },
    };
    expect(signatureFault(alone, third, now())).toBeNull();

    await service.restart();
    skewMs = 24 * HOUR_MS + 60_000;
    expect(await signing(first, second, third)).toEqual([false, true, true]);
    skewMs = 34 * HOUR_MS + 60_000;
    expect(await signing(first, second, third)).toEqual([false, false, true]);
    expect(newestSignatureCount()).toBe(1);
  });

  it('can be followed by revoking the replaced secrets at once; revoking twice does no harm', async () => {
    const { id, secret: first } = await receiver.subscribe(service, 'message.received');
    const { secret: second } = await rotate(id);
    const { secret: third } = await rotate(id);
    expect(await revoke(id)).toMatchObject({ id, revoked: 2 });
    expect(await signing(first, second, third)).toEqual([false, false, true]);
    expect(await revoke(id)).toMatchObject({ revoked: 0 });
    await service.restart();
    expect(await signing(first, second, third)).toEqual([false, false, true]);
    expect((await service.api.post('/api/hooks/sub_nothing/revoke-previous-secrets')).status).toBe(
      404,
    );
  });

  it('is refused while five secrets sign, and possible again when they are revoked or their time is over', async () => {
    const { id } = await receiver.subscribe(service, 'message.received');
    for (let n = 0; n < 4; n++) await rotate(id);
    expect(await service.api.post(`/api/hooks/${id}/rotate-secret`)).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'secret_limit_reached',
          message: expect.stringContaining('revoke-previous-secrets'),
        },
      },
    });
    await signing();
    expect(newestSignatureCount()).toBe(5);
    await revoke(id);
    for (let n = 0; n < 4; n++) await rotate(id);
    skewMs = 25 * HOUR_MS;
    await rotate(id);
  });

  it('and a revoke leave only the new secret to sign the retry of an earlier attempt', async () => {
    const { id, secret: first } = await receiver.subscribe(service, 'message.received');
    let release: (() => void) | undefined;
    answer = (_request, response) => void (release = () => response.writeHead(503).end());
    await write('held');
    await waitFor('the first attempt', () => release);
    const { secret: second } = await rotate(id);
    await revoke(id);
    answer = (_request, response) => void response.end('ok');
    release!();
    const retry = await waitFor('the retry', () => receiver.requests[1]);
    expect([first, second].map((secret) => signatureFault(retry, secret, now()) === null)).toEqual([
      false,
      true,
    ]);
  });

  it('under load and over a restart, every delivery verifies for a receiver that still has the first secret', async () => {
    // the receiver checks each request against this secret
    const { id, secret } = await receiver.subscribe(service, 'message.received');
    const secrets = [secret];
    for (let n = 0; n < 60; n++) {
      await write(`message ${n}`);
      if (n % 20 === 10) secrets.push((await rotate(id)).secret);
      if (n === 40) await service.restart();
    }
    await waitFor(
      'all',
      () => new Set(receiver.payloads().map((payload) => payload.id)).size === 60,
    );
    expect(receiver.faults).toEqual([]);
    expect(await signing(...secrets)).toEqual([true, true, true, true]);
  });
});
