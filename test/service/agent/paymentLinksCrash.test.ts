// kill -9 around the moment in which a payment link is made: each approval has one link in the end.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { callIn, saidByAgent } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { setUpManual } from '../payments/support.ts';

const CUSTOMERS = 8;
const KILLED_AFTER = [1, 3, 6];

interface Buyer {
  readonly customer: ChatCustomer;
  readonly conversationId: string;
  readonly callId: string;
}

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ env: { AGENT_QUIET_MS: '0' } });
  await setUpManual(service);
  await service.api.patch('/api/agent', { enabled: true });
});
afterAll(() => service?.close());

const untilSaid = (customer: ChatCustomer, count: number) =>
  waitFor(`${count} replies`, async () => (await saidByAgent(customer)).length === count);

/** A customer whose payment link waits for approval. */
async function buyer(): Promise<Buyer> {
  const customer = await chatCustomer(service.url);
  const { conversation_id: conversationId } = await customer.write(
    'I want to pay 50 dollars for the demo',
  );
  await untilSaid(customer, 1);
  await customer.write('yes');
  const { tool_call_id: callId } = await callIn(
    service.api,
    `conversation_id=${conversationId}`,
    'pending_approval',
  );
  await untilSaid(customer, 2);
  return { customer, conversationId, callId };
}

const linksOf = async ({ conversationId }: Buyer) =>
  (await service.api.get(`/api/payment-links?conversation_id=${conversationId}`)).body.data as {
    url: string;
  }[];

it.each(KILLED_AFTER)(
  'killed after answer %d to many approvals: each approval makes exactly one link, which is told once and moves the funnel once',
  async (answersBefore) => {
    const buyers = await Promise.all(Array.from({ length: CUSTOMERS }, buyer));
    const enough = Promise.withResolvers<undefined>();
    let answered = 0;
    const approvals = buyers.map(({ callId }) =>
      service.api.post(`/api/tool-calls/${callId}/approve`, {}).then(
        () => void (++answered === answersBefore && enough.resolve(undefined)),
        () => {},
      ),
    );
    await enough.promise;
    if (answersBefore === KILLED_AFTER.at(-1)) await service.crashAndStartHere();
    else await service.crashAndRestart();
    await Promise.all(approvals);

    // An approval that the process did not store before it died is made again; the others answer
    // 409.
    for (const { callId } of buyers)
      expect([200, 409]).toContain(
        (await service.api.post(`/api/tool-calls/${callId}/approve`, {})).status,
      );
    for (const each of buyers) {
      await callIn(service.api, `conversation_id=${each.conversationId}`, 'succeeded');
      await untilSaid(each.customer, 3);
    }
    for (const each of buyers) {
      const links = await linksOf(each);
      expect(links).toHaveLength(1);
      expect((await saidByAgent(each.customer))[2]).toBe(
        `Here you can pay US$50.00 (the demo):\n${links[0]!.url}`,
      );
      expect(
        (await service.api.get(`/api/conversations/${each.conversationId}`)).body,
      ).toMatchObject({ funnel_stage: 'payment_pending', pending_approvals: 0 });
    }
  },
);
