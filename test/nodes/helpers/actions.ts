// What the tests of the action node have in common: a service, a line to it that can refuse calls
// and lose answers, the node's operations, and customers.
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { sharedTestCa } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { runAction, searchList, type ActionOptions } from './n8n.ts';
import { startWire, type Wire } from './strangers.ts';

export type Rest = Partial<Omit<ActionOptions, 'resource' | 'operation'>>;

/** Starts a service for the tests of a file, and gives what they need to run our node against it. */
export function useService(env: Record<string, string> = {}) {
  let service: TestService;
  let wire: Wire;
  beforeAll(async () => {
    const { ca } = await sharedTestCa();
    service = await startTestService({ ca, env });
    wire = await startWire(() => service.url);
  });
  beforeEach(() => wire.reset());
  afterAll(async () => {
    await wire.close();
    await service.stop();
  });
  const credential = () => ({ baseUrl: wire.url, apiKey: service.apiKey });
  let customers = 0;
  return {
    service: () => service,
    /** The line that the node's calls take to the service. */
    wire: () => wire,
    credential,
    /** Runs operations of a resource, with these parameters unless a test gives others. */
    resource:
      (resource: string, defaults: Rest['parameters'] = {}) =>
      (operation: string, { parameters, ...rest }: Rest = {}) =>
        runAction({
          credential: credential(),
          resource,
          operation,
          parameters: { ...defaults, ...parameters },
          ...rest,
        }),
    /** What a list of the node shows. */
    search: (method: string, filter?: string, cursor?: string) =>
      searchList(credential(), method, filter, cursor),
    /** A conversation that a customer has opened. */
    async open(text = 'Hello', claims: { name?: string; email?: string; phone?: string } = {}) {
      const visitor = { name: 'Ana', email: `ana${++customers}@example.com`, ...claims };
      const customer = await chatCustomer(service.url, visitor);
      const { conversation_id: id } = await customer.write(text);
      return { id, customer, texts: () => textsFor(customer), email: visitor.email };
    },
  };
}

/** A time after everything stored so far and before all that follows, to the millisecond. */
export async function timeBetween(): Promise<string> {
  const between = await nextMillisecond();
  await nextMillisecond();
  return new Date(between).toISOString();
}

async function nextMillisecond(): Promise<number> {
  const from = Date.now();
  return waitFor('the clock to move', () => Date.now() > from && Date.now(), { everyMs: 1 });
}

/** Settings of a node that tries once more. */
export const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };

/** What a customer has been sent, oldest first. */
export const textsFor = async (customer: ChatCustomer): Promise<string[]> =>
  (await customer.read()).filter(({ from }) => from !== 'customer').map(({ text }) => text);

export const chosen = (mode: string, value: string) => ({ __rl: true, mode, value });
export const byId = (id: string) => ({ conversationId: chosen('id', id) });
export const hookById = (id: string) => ({ subscriptionId: chosen('list', id) });
export const contactById = (id: string) => ({ contactId: chosen('id', id) });
