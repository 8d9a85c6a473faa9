import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { pino } from 'pino';
import { Dispatcher } from '../../../service/src/deliveries/sending/dispatcher.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { systemClock } from '../../../service/src/platform/clock.ts';
import type { WorkDeps } from '../../../service/src/platform/jobs/worker.ts';
import { healthRouter } from '../../../service/src/app/api/health.ts';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { overriding } from '../../helpers/overriding.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { BreakableFiles } from '../store/breakableFiles.ts';

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as { status: string; problems?: string[] },
  };
};

describe('/readyz and a delivery loop that hangs', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let server: Server;
  let dispatcher: Dispatcher;
  /** By how much longer ago the loop's last turn is made to look. */
  let passedMs: number;
  let isHanging: boolean;
  let stalledMs: number;

  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    [passedMs, isHanging, stalledMs] = [0, false, 0];
    // Everything is real, except that a claim never answers while `isHanging`.
    const claim: ServiceStore['claim'] = (request) =>
      isHanging ? new Promise(() => {}) : store.claim(request);
    const hanging = overriding(store, 'claim', claim);
    dispatcher = new Dispatcher({
      deps: { store: hanging, clock: systemClock, secrets: {} } as unknown as WorkDeps,
      outbound: { request: () => Promise.reject(new Error('not reached')) },
      log: pino({ level: 'silent' }),
      timeoutMs: 1000,
      retryDelaysMs: [],
      observer: { attempted() {}, ended() {} },
    });
    const app = express().use(
      healthRouter(
        {
          storeFault: () => store.fault,
          storeWarning: () => null,
          sinceLastTurnMs: () => dispatcher.sinceLastTurnMs + passedMs,
          longestStallMs: () => stalledMs,
        },
        new AbortController().signal,
      ),
    );
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.close();
    await dispatcher.stop();
    await fresh.remove();
  });
  const url = () => `http://127.0.0.1:${(server.address() as { port: number }).port}`;

  it('is ready while the loop turns with nothing to do', async () => {
    const before = dispatcher.sinceLastTurnMs;
    await waitFor('some time to pass', () => dispatcher.sinceLastTurnMs > before + 500);
    await waitFor('the next turn', () => dispatcher.sinceLastTurnMs < 500);
    expect(await readiness(url())).toEqual({
      status: 200,
      retryAfter: null,
      body: { status: 'ready', longest_stall_ms: 0 },
    });
  });

  it('stays ready after a long stall, and says how long it was and what to do', async () => {
    stalledMs = 999;
    expect((await readiness(url())).body).toEqual({ status: 'ready', longest_stall_ms: 999 });
    stalledMs = 2345;
    const { status, body } = await readiness(url());
    expect([status, body]).toEqual([
      200,
      {
        status: 'ready',
        longest_stall_ms: 2345,
        warnings: [
          expect.stringMatching(
            /^The process stood still for 2\.3 seconds .* 5 minutes .*look in the log/,
          ),
        ],
      },
    ]);
  });

  it('is not ready once the loop has not turned for 30 seconds, and says what is wrong and what to do', async () => {
    isHanging = true;
    // Longer than a loop without work waits between two turns.
    await waitFor('the loop to hang', () => dispatcher.sinceLastTurnMs > 3000);
    passedMs = 20_000;
    expect((await readiness(url())).status).toBe(200);
    passedMs = 27_000;
    const { status, retryAfter, body } = await readiness(url());
    expect([status, retryAfter, body.status]).toEqual([503, '2', 'not_ready']);
    expect(body.problems).toEqual([
      expect.stringMatching(
        /^The delivery loop has not run for \d\d seconds, so nothing is sent\. Restart the service/,
      ),
    ]);
    expect((await fetch(`${url()}/healthz`)).status).toBe(200);
  });
});

onEmbeddedStore(describe)('/readyz of a whole service', () => {
  let service: TestService;
  let files: BreakableFiles;
  let socket: Socket | undefined;

  beforeEach(async () => {
    files = new BreakableFiles();
    service = await startTestService({ store: { files, retryMs: 20, stalledAfterMs: 300 } });
  });
  afterEach(async () => {
    socket?.destroy();
    await service?.stop();
  });

  const storeFault = async () =>
    (await readMetrics(service.url)).value('conversation_service_store_fault');

  it('is not ready while the disk confirms no write, refuses new ones, and answers the waiting one once it is confirmed', async () => {
    const customer = await chatCustomer(service.url);
    const release = files.holdSyncs((path) => path.includes('journal'));
    const waiting = customer.write('waits for the disk');
    const { body } = await waitFor('/readyz to say so', async () => {
      const answer = await readiness(service.url);
      return answer.status === 503 ? answer : null;
    });
    expect(body.problems).toEqual([
      expect.stringMatching(
        /^The store cannot write: the disk has not confirmed a write for \d+ seconds; check whether the disk hangs/,
      ),
    ]);
    const refused = await customer.api.post('/api/chat/messages', {
      text: 'refused',
      client_message_id: 'refused',
    });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'unavailable']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await storeFault()).toBe(1);
    release();
    await waiting;
    await waitFor('it to be ready', async () => (await readiness(service.url)).status === 200);
    expect(await storeFault()).toBe(0);
    await customer.write('after');
    expect((await customer.read()).map(({ text }: { text: string }) => text)).toEqual([
      'waits for the disk',
      'after',
    ]);
  });

  it('is not ready from the moment a stop begins, and still answers the request under way', async () => {
    let answers = '';
    socket = connect(Number(new URL(service.url).port), '127.0.0.1').on(
      'data',
      (chunk) => (answers += String(chunk)),
    );
    // A request of which only a part has arrived when the stop begins.
    socket.write(
      'POST /api/chat/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{',
    );
    await waitFor('the first part to arrive', () => answers.startsWith('HTTP/1.1 100 '));
    expect((await readiness(service.url)).status).toBe(200);
    const stopped = service.stop();
    socket.write('}GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await waitFor('both answers', () => /"problems"/.test(answers));
    expect(answers).toMatch(/\nHTTP\/1\.1 201 /);
    expect(answers).toMatch(
      /HTTP\/1\.1 503 [^]*\{"status":"not_ready","problems":\["The service is stopping\."\]/,
    );
    await stopped;
    await expect(fetch(`${service.url}/readyz`)).rejects.toThrow();
  });
});
