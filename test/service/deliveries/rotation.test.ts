import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { signatureFault } from '../../helpers/eventReceiver.ts';
import type { ReceivedRequest } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { deliveryStage, EVENT, MINUTE_MS, status } from './deliveryStage.ts';

const HOUR_MS = 3_600_000;

describe('rotating the secret of a subscription', () => {
  const stage = deliveryStage();
  const { write } = stage;
  beforeEach(() => stage.start());

  const now = () => stage.clock.now().getTime();
  const isSignedWith = (request: ReceivedRequest, secret: string) =>
    signatureFault(request, secret, now()) === null;
  const subscribe = () => stage.receiver.subscribe(stage.service, EVENT);
  const rotate = async (id: string) => {
    const { status, body } = await stage.service.api.post(`/api/hooks/${id}/rotate-secret`);
    expect({ status, body }).toMatchObject({ status: 200 });
    expect(body.notice).toContain('publish it again');
    return body as { secret: string; previous_secret_expires_at: string };
  };
  const revoke = (id: string) => stage.service.api.post(`/api/hooks/${id}/revoke-previous-secrets`);
  /** Writes a message and says of each secret whether it signed the request. */
  const signing = async (...secrets: string[]) => {
    const before = stage.receiver.requests.length;
    await write(randomUUID());
    const request = await waitFor('a request', () => stage.receiver.requests[before]);
    return secrets.map((secret) => isSignedWith(request, secret));
  };
  const newestSignature = () =>
    String(stage.receiver.requests.at(-1)!.headers['x-service-signature']);

  it('twice in a row leaves three secrets that sign, the newest first; each replaced one stops after its own 24 hours', async () => {
    const { id, secret: first } = await subscribe();
    const { secret: second } = await rotate(id);
    stage.clock.advance(10 * HOUR_MS);
    const { secret: third, previous_secret_expires_at: ends } = await rotate(id);
    expect(Math.abs(Date.parse(ends) - now() - 24 * HOUR_MS)).toBeLessThan(60_000);
    expect(await signing(first, second, third)).toEqual([true, true, true]);
    const [time, newest] = newestSignature().split(',');
    const alone = { 'x-service-signature': `${time},${newest}` };
    const request = { ...stage.receiver.requests.at(-1)!, headers: alone };
    expect(isSignedWith(request, third)).toBe(true);

    await stage.restart();
    stage.clock.advance(14 * HOUR_MS + MINUTE_MS);
    expect(await signing(first, second, third)).toEqual([false, true, true]);
    stage.clock.advance(10 * HOUR_MS);
    expect(await signing(first, second, third)).toEqual([false, false, true]);
    expect(newestSignature().match(/v1=/g)).toHaveLength(1);
  });

  it('can be followed by revoking the replaced secrets at once; revoking twice does no harm', async () => {
    const { id, secret: first } = await subscribe();
    const { secret: second } = await rotate(id);
    const { secret: third } = await rotate(id);
    expect((await revoke(id)).body).toMatchObject({ id, revoked: 2 });
    expect(await signing(first, second, third)).toEqual([false, false, true]);
    expect((await revoke(id)).body).toMatchObject({ revoked: 0 });
    await stage.restart();
    expect(await signing(first, second, third)).toEqual([false, false, true]);
    expect((await revoke('sub_nothing')).status).toBe(404);
  });

  it('is refused while five secrets sign, and possible again when they are revoked or their time is over', async () => {
    const { id } = await subscribe();
    for (let n = 0; n < 4; n++) await rotate(id);
    expect(await stage.service.api.post(`/api/hooks/${id}/rotate-secret`)).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'secret_limit_reached',
          message: expect.stringContaining('revoke-previous-secrets'),
        },
      },
    });
    await signing();
    expect(newestSignature().match(/v1=/g)).toHaveLength(5);
    await revoke(id);
    for (let n = 0; n < 4; n++) await rotate(id);
    stage.clock.advance(25 * HOUR_MS);
    await rotate(id);
  });

  it('and a revoke leave only the new secret to sign the retry of an earlier attempt', async () => {
    const { id, secret: first } = await subscribe();
    let release: (() => void) | undefined;
    stage.answer = (...each) => void (release = () => status(503)(...each));
    await write('held');
    await waitFor('the first attempt', () => release);
    const { secret: second } = await rotate(id);
    await revoke(id);
    stage.answer = null;
    release!();
    const retry = await waitFor('the retry', () => stage.receiver.requests[1]);
    expect([isSignedWith(retry, first), isSignedWith(retry, second)]).toEqual([false, true]);
  });

  it('under load and over a restart, every delivery verifies for a receiver that still has the first secret', async () => {
    // the receiver checks each request against this secret
    const { id, secret } = await subscribe();
    const secrets = [secret];
    for (let n = 0; n < 60; n++) {
      await write(`message ${n}`);
      if (n % 20 === 10) secrets.push((await rotate(id)).secret);
      if (n === 40) await stage.restart();
    }
    await waitFor(
      'all',
      () => new Set(stage.receiver.payloads().map((payload) => payload.id)).size === 60,
    );
    expect(stage.receiver.faults).toEqual([]);
    expect(await signing(...secrets)).toEqual([true, true, true, true]);
  });
});
