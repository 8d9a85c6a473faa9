import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { TOOL_TEST_ENV, agentSays, callIn } from '../../../helpers/toolEndpoint.ts';
import { linksOf, setUpManual } from '../../payments/support.ts';

describe('a payment link that the agent wants to make, on the conversations screen', () => {
  let service: TestService;
  let ana: Browserless;
  beforeAll(async () => {
    service = await startTestService({ env: { ...MEMBER_ENV, ...TOOL_TEST_ENV } });
    await setUpManual(service);
    await service.api.patch('/api/agent', { enabled: true });
    ana = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());

  const callOf = (id: string, status: string) =>
    callIn(service.api, `conversation_id=${id}`, status);
  const waiting = async () => {
    const customer = await chatCustomer(service.url, { name: 'Clara' });
    const words = 'I want to pay 49 dollars for <b>the demo</b>';
    const { conversation_id: id } = await customer.write(words);
    await agentSays(customer);
    await customer.write('yes');
    const { tool_call_id: callId } = await callOf(id, 'pending_approval');
    await agentSays(customer, 2);
    const path = `/conversations/${id}`;
    return { customer, id, path, decide: `${path}/tool-calls/${callId}/decide` };
  };

  it('shows the amount as the customer will read it, what for, and through whom; no host, no tool', async () => {
    const { path } = await waiting();
    const { text, html } = await ana.get(path);
    expect(text).toContain(
      'Allow the agent to create a payment link ? needs approval Amount US$49.00 (USD) For <b>the demo</b> Provider Manual Requested now , expires in 1 day . Approve Reject',
    );
    expect(html).toContain('aria-label="Approve Payment link"');
    expect(text).not.toContain('Calls ');
  });

  it('approved, is made and given to the customer', async () => {
    const { path, id, decide, customer } = await waiting();
    await ana.get(path);
    expect((await ana.post(decide, { verdict: 'approve' })).text).toContain(
      'Approved by ana , now',
    );
    await callOf(id, 'succeeded');
    const told = await agentSays(customer, 3);
    const [link] = await linksOf(service, id);
    expect(told).toContain(link.url);
    const { text } = await ana.get(path);
    expect(text).toMatch(/Payment link succeeded Amount US\$49\.00 \(USD\) .* Approved by ana/);
  });

  it('rejected, says so with the reason', async () => {
    const { path, decide } = await waiting();
    await ana.get(path);
    const { text } = await ana.post(decide, { verdict: 'reject', note: 'Wrong price.' });
    expect(text).toMatch(
      /Payment link rejected Amount .* Rejected by ana , now \. Reason: Wrong price\./,
    );
  });

  it('says why, when links were switched off in between', async () => {
    const { path, id } = await waiting();
    await service.api.patch('/api/agent', { payment_links: 'off' });
    await callOf(id, 'cancelled');
    expect((await ana.get(path)).text).toContain(
      'because payment links were turned off for the agent.',
    );
    await service.api.patch('/api/agent', { payment_links: 'ask' });
  });

  it('shows a failure in words', async () => {
    const { path, id, decide } = await waiting();
    await service.api.delete('/api/payment-accounts/manual');
    await ana.get(path);
    await ana.post(decide, { verdict: 'approve' });
    await callOf(id, 'failed');
    expect((await ana.get(path)).text).toMatch(
      /Payment link failed .* Approved by ana .* The payment provider manual is not set up in this workspace\./,
    );
    await setUpManual(service);
  });
});
