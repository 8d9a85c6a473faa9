// What the tests of the action node have in common: a service, its operations, and customers.
import { afterAll, beforeAll } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { runAction, type ActionOptions } from './n8n.ts';

export type Rest = Partial<Omit<ActionOptions, 'resource' | 'operation'>>;

/** Starts a service for the tests of a file, and gives what they need to run our node against it. */
export function useService(env: Record<string, string> = {}) {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ env });
  });
  afterAll(() => service.stop());
  const credential = () => ({ baseUrl: service.url, apiKey: service.apiKey });
  let customers = 0;
  return {
    service: () => service,
    credential,
    /** Runs operations of a resource. */
    resource:
      (resource: string) =>
      (operation: string, rest: Rest = {}) =>
        runAction({ credential: credential(), resource, operation, ...rest }),
    /** A conversation that a customer has opened. */
    async open(text = 'Hello', claims: Record<string, unknown> = {}) {
      const email = `ana${++customers}@example.com`;
      const customer = await chatCustomer(service.url, { name: 'Ana', email, ...claims });
      const { conversation_id: id } = await customer.write(text);
      const texts = async () =>
        ((await customer.read()) as Array<{ from: string; text: string }>)
          .filter(({ from }) => from !== 'customer')
          .map((each) => each.text);
      return { id, customer, texts, email: (claims.email as string | undefined) ?? email };
    },
  };
}

const chosen = (mode: string, value: string) => ({ __rl: true, mode, value });
export const byId = (id: string) => ({ conversationId: chosen('id', id) });
export const hookById = (id: string) => ({ subscriptionId: chosen('list', id) });
export const contactById = (id: string) => ({ contactId: chosen('id', id) });
