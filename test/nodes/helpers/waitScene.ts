// The service and n8n's part around executions that wait, for the tests of the waiting operations.
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { TestClock } from '../../helpers/testClock.ts';
import { sharedTestCa } from '../../helpers/tls.ts';
import { byId } from './actions.ts';
import { startWire, type Wire } from './strangers.ts';
import { startWaitingHost, type WaitingHost } from './waitingHost.ts';

interface WaitJson {
  id: string;
  expires_at: string;
  resume: { state: string };
}

interface Stage {
  service: TestService;
  host: WaitingHost;
  /** Between the nodes and the service. */
  wire: Wire;
  clock: TestClock;
}

/** One stage for all tests of a file. Its clock moves when a test says so. */
export function waitScene() {
  const scene = {} as Stage;
  beforeAll(async () => {
    const { ca } = await sharedTestCa();
    scene.clock = new TestClock(Date.now());
    scene.service = await startTestService({
      ca,
      clock: scene.clock,
      env: { AGENT_QUIET_MS: '5000' },
    });
    scene.wire = await startWire(() => scene.service.url);
    scene.host = await startWaitingHost(() => ({
      baseUrl: scene.wire.url,
      apiKey: scene.service.apiKey,
    }));
  });
  beforeEach(() => scene.wire.reset());
  afterAll(async () => {
    await scene.host?.close();
    await scene.wire?.close();
    await scene.service?.stop();
  });
  /** The newest wait. */
  const newest = async () =>
    ((await scene.service.api.get('/api/waits')).body as { data: WaitJson[] }).data[0]!;
  return Object.assign(scene, {
    newest,
    /** A conversation that a customer has opened. */
    async open(text = 'Hello') {
      const customer = await chatCustomer(scene.service.url, { name: 'Ana' });
      const { conversation_id: id } = await customer.write(text);
      return { id, customer };
    },
    /** Conversation → Send and Wait for Reply. */
    ask: (conversationId: string, parameters = {}) =>
      scene.host.wait({
        resource: 'conversation',
        parameters: { ...byId(conversationId), text: 'What is your order number?', ...parameters },
      }),
    /** Approval → Ask and Wait. */
    askTeam: (parameters = {}) =>
      scene.host.wait({
        resource: 'approval',
        parameters: { message: 'Refund order A-1042?', ...parameters },
      }),
    async decide(approved: boolean, note?: string) {
      const { id } = await newest();
      await scene.service.api.post(`/api/waits/${id}/decide`, { approved, note });
    },
  });
}
