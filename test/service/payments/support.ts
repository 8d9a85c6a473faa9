import { chatCustomer, type ApiAnswer, type ApiClient } from '../../helpers/apiClient.ts';
import type { EventReceiver } from '../../helpers/eventReceiver.ts';
import type { TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

export const INSTRUCTIONS = 'Transfer to DE00 0000 0000\nwith <your> reference & name.';

export const LINK = { amount: 4900, currency: 'usd', description: 'Demo, one hour' };

/** Sets the manual provider up. */
export const setUpManual = ({ api }: Pick<TestService, 'api'>): Promise<ApiAnswer> =>
  api.put('/api/payment-accounts/manual', { settings: { instructions: INSTRUCTIONS } });

/** Has a new customer write. @returns the conversation's id */
export async function newConversation(service: Pick<TestService, 'url'>): Promise<string> {
  return (await (await chatCustomer(service.url, { name: 'Eva' })).write('hello')).conversation_id;
}

/** Asks for a link. @returns the whole answer */
export const requestLink = (
  service: Pick<TestService, 'api'>,
  conversationId: string,
  wanted: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<ApiAnswer> =>
  service.api.post(
    `/api/conversations/${conversationId}/payment-links`,
    { ...LINK, ...wanted },
    headers,
  );

/** @throws Error when the link is not made */
export async function makeLink(
  service: Pick<TestService, 'api'>,
  conversationId: string,
  wanted: Record<string, unknown> = {},
) {
  const { status, body } = await requestLink(service, conversationId, wanted);
  if (status !== 201) throw new Error(`no link: ${JSON.stringify(body)}`);
  return body;
}

/** Makes a link of the workspace “another”, which nobody else may see. @returns its id */
export async function strangersLink(service: TestService, stranger: ApiClient): Promise<string> {
  await setUpManual({ api: stranger });
  const customer = await chatCustomer(service.url, { workspace: 'another', name: 'Zed' });
  const { conversation_id: id } = await customer.write('hello');
  return (await makeLink({ api: stranger }, id)).id;
}

export const readLink = async (service: Pick<TestService, 'api'>, id: string) =>
  (await service.api.get(`/api/payment-links/${id}`)).body;

export const linksOf = async (service: Pick<TestService, 'api'>, conversationId: string) =>
  (await service.api.get(`/api/payment-links?conversation_id=${conversationId}`)).body.data;

/** Waits until a link has a status. */
export const linkIn = (service: Pick<TestService, 'api'>, id: string, status: string) =>
  waitFor(`${id} to be ${status}`, async () => {
    const link = await readLink(service, id);
    return link.status === status && link;
  });

export const stageOf = async (
  service: Pick<TestService, 'api'>,
  conversationId: string,
): Promise<string> =>
  (await service.api.get(`/api/conversations/${conversationId}`)).body.funnel_stage;

/** The path of a link's page on the service, wherever PUBLIC_URL says that it is. */
export const pageOf = (
  service: Pick<TestService, 'url'>,
  { url }: { url: string },
  query = '',
): string => `${service.url}${new URL(url).pathname}${query}`;

/** Subscribes a receiver to the events that payments make. */
export async function subscribeToPayments(
  receiver: EventReceiver,
  service: TestService,
): Promise<void> {
  for (const event of ['conversation.qualified', 'payment.paid'])
    await receiver.subscribe(service, event);
}

/**
 * Waits until every delivery that is owed has been made: an event that has not arrived by then was
 * not emitted.
 */
export async function allDelivered(service: Pick<TestService, 'api'>): Promise<void> {
  await waitFor('all deliveries', async () => {
    const { data: hooks } = (await service.api.get('/api/hooks')).body as {
      data: { id: string }[];
    };
    for (const { id } of hooks) {
      const { data } = (await service.api.get(`/api/hooks/${id}/deliveries?limit=200`)).body as {
        data: { status: string }[];
      };
      if (data.some(({ status }) => status === 'pending')) return false;
    }
    return true;
  });
}

/** The events that say that a link is paid, once all events have been delivered. */
export async function paidEventsOf(
  receiver: EventReceiver,
  service: Pick<TestService, 'api'>,
  linkId: string,
) {
  await allDelivered(service);
  return receiver.payloads('payment.paid').filter(({ payment }) => payment.id === linkId);
}
