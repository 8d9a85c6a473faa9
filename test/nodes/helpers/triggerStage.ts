// What the tests of every trigger have: a real service, a wire to it that can refuse calls and lose
// answers, and the part of n8n around triggers.
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../helpers/service.ts';
import { sharedTestCa } from '../../helpers/tls.ts';
import type { Credential } from './n8n.ts';
import { startWire, type Wire } from './strangers.ts';
import { startWebhookHost, type WebhookHost } from './webhookHost.ts';

interface TriggerStage {
  service: TestService;
  host: WebhookHost;
  /** What n8n's calls pass on their way to the service. */
  wire: Wire;
  /** What n8n uses: the service over the wire, unless a test enters something else. */
  credential: Credential;
  /** Starts one more service, and stops it after the test. */
  startOtherService(options?: TestServiceOptions): Promise<TestService>;
  /** Starts one more n8n, with the same credential, and closes it after the test. */
  startOtherHost(): Promise<WebhookHost>;
}

/**
 * One stage for all tests of a file. Each test begins with a wire that works and has seen no call.
 */
export function triggerStage(env: Record<string, string> = {}): TriggerStage {
  const afterTest: Array<() => Promise<void>> = [];
  const stage = {
    async startOtherService(options) {
      const service = await startTestService({ ca: stage.host.ca, ...options });
      afterTest.push(() => service.stop());
      return service;
    },
    async startOtherHost() {
      const host = await startWebhookHost(() => stage.credential);
      afterTest.push(() => host.close());
      return host;
    },
  } as TriggerStage;
  const overTheWire = () => ({ baseUrl: stage.wire.url, apiKey: stage.service.apiKey });
  beforeAll(async () => {
    const { ca } = await sharedTestCa();
    stage.service = await startTestService({ ca, env });
    stage.wire = await startWire(() => stage.service.url);
    stage.host = await startWebhookHost(() => stage.credential);
    stage.credential = overTheWire();
  });
  beforeEach(() => {
    stage.credential = overTheWire();
    stage.wire.reset();
  });
  afterEach(async () => {
    for (const close of afterTest.splice(0)) await close();
  });
  afterAll(async () => {
    await stage.host.close();
    await stage.wire.close();
    await stage.service.stop();
  });
  return stage;
}
