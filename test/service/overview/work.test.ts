// What the overview says of tools, approvals, payments and deliveries, compared with what happened.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../helpers/browserless.ts';
import { startEventReceiver } from '../../helpers/eventReceiver.ts';
import { startExecutionHost } from '../../helpers/restingExecution.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { text, toolCalls } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { answers, inOrder, startAgentService } from '../agent/agentService.ts';
import { makeLink, newConversation, setUpManual } from '../payments/support.ts';
import { askTeam } from '../waits/support.ts';
import { tableRows, totals } from './support.ts';

/** A spark line. Captures the words beside it. */
const SPARK_LINE = /<span class="spark muted">(?:\s*<svg.*?<\/svg>)?([^<]*)<\/span>/gs;

describe('the overview of tools and approvals', () => {
  it('tells calls that succeed from those that fail or are rejected, by tool', async () => {
    const agent = await startAgentService({ env: MEMBER_ENV });
    try {
      const ana = await signedInBrowser(agent.service.url);
      await agent.tool('cancel');
      await agent.tool('refund', { ask_before_running: true });
      agent.tools.on('cancel', answers({ message: 'Cancelled.' }));
      agent.model.answerBy(inOrder(toolCalls({ name: 'cancel' }), text('Done.')));
      await (await agent.talk('Cancel it')).reply();
      agent.tools.on('cancel', answers({ message: 'No such order.' }, 404));
      agent.model.answerBy(inOrder(toolCalls({ name: 'cancel' }), text('It did not work.')));
      await (await agent.talk('Cancel it')).reply();
      agent.model.answerBy(inOrder(toolCalls({ name: 'refund' }), text('No refund.')));
      const talk = await agent.talk('Refund it');
      const call = await talk.call(({ status }) => status === 'pending_approval');
      await agent.service.api.post(`/api/tool-calls/${call.tool_call_id}/reject`, {});
      await talk.call(({ status }) => status === 'rejected');

      const page = await ana.get('/overview?range=24h');
      expect(await totals(ana, 'tool-calls')).toEqual({ Succeeded: 1, Failed: 1, 'Not made': 1 });
      expect(tableRows(page, 'tools').map((cells) => cells.slice(0, 3))).toEqual([
        ['cancel', '2', '50 %'],
        ['refund', '1', '–'],
      ]);
      expect(await totals(ana, 'approvals')).toEqual({
        Approved: 0,
        Rejected: 1,
        'Not decided': 0,
      });
      expect(page.text).toContain('1 asked for: 0 approved, 1 rejected, 0 not decided.');

      await agent.tool('unused');
      const { html } = await ana.get('/tools');
      expect([...html.matchAll(SPARK_LINE)].map(([, words]) => words!.trim()).sort()).toEqual([
        '1 call in 7 days',
        '2 calls in 7 days',
        'no calls in 7 days',
      ]);
      expect(html.match(/<path d="M[\d.,L-]+"/g)).toHaveLength(2);
    } finally {
      await agent.close();
    }
  });
});

describe('the overview of payments, questions of workflows and deliveries', () => {
  let service: TestService;
  let ana: Browserless;
  const toClose: { close(): Promise<void> }[] = [];
  const start = async (ca?: string) => {
    service = await startTestService({ ca, env: MEMBER_ENV });
    ana = await signedInBrowser(service.url);
  };
  beforeEach(() => void toClose.splice(0));
  afterEach(async () => {
    await service?.stop();
    for (const each of toClose) await each.close();
  });

  it('counts links, what was paid, and how much', async () => {
    await start();
    await setUpManual(service);
    const conversation = await newConversation(service);
    const { id } = await makeLink(service, conversation);
    await makeLink(service, conversation, { amount: 1000, currency: 'eur' });
    await service.api.post(`/api/payment-links/${id}/mark-paid`, {});
    // A repeat counts nothing.
    await service.api.post(`/api/payment-links/${id}/mark-paid`, {});
    expect(await totals(ana, 'payments')).toEqual({ 'Links made': 2, Paid: 1 });
    expect((await ana.get('/overview')).text).toContain('Links: 2 made, 1 paid: US$49.00.');
  });

  it('counts the questions of workflows among the approvals', async () => {
    const n8n = await startExecutionHost(() => service.api);
    toClose.push(n8n);
    await start(n8n.ca);
    const [approved, cancelled] = [
      await askTeam(service, n8n.execution()),
      await askTeam(service, n8n.execution()),
    ];
    await service.api.post(`/api/waits/${approved.id}/decide`, { approved: true });
    await service.api.post(`/api/waits/${cancelled.id}/cancel`);
    expect(await totals(ana, 'approvals')).toEqual({ Approved: 1, Rejected: 0, 'Not decided': 1 });
  });

  it('counts each attempt, and shows the error rate and latency of each subscription', async () => {
    let isAway = false;
    const receiver = await startEventReceiver(
      (_request, response) => void response.writeHead(isAway ? 503 : 200).end('ok'),
    );
    toClose.push(receiver);
    await start(receiver.ca);
    const { id } = await receiver.subscribe(service, 'message.received');
    const customer = await chatCustomer(service.url);
    await customer.write('Hello');
    const attempts = async () =>
      (await totals(ana, 'deliveries')) as { Succeeded?: number; Failed?: number };
    await waitFor('the first event', async () => (await attempts()).Succeeded === 1);
    isAway = true;
    await customer.write('Anybody?');
    await waitFor('all retries', async () => (await attempts()).Failed === 4);

    const page = await ana.get('/overview?range=24h');
    expect(page.text).toContain(
      'Attempts: 5, 80 % failed. Deliveries: 1 arrived, 1 failed for good.',
    );
    const [row = []] = tableRows(page, 'subscriptions');
    expect(row[0]).toContain(`/keys/subscriptions/${id}`);
    expect(row.slice(1, 4)).toEqual(['5', '80 %', '1']);
    expect(row[4]).toMatch(/^\d+(\.\d)? (ms|s)$/);

    const list = await ana.get('/keys');
    expect([...list.html.matchAll(SPARK_LINE)].map(([, words]) => words!.trim())).toEqual([
      '5 attempts in 7 days',
    ]);

    // A delivery that fails again after it was redelivered still counts once.
    const { body } = await service.api.get(`/api/hooks/${id}/deliveries?status=failed`);
    await service.api.post(`/api/hooks/${id}/deliveries/${body.data[0].id}/redeliver`);
    await waitFor('the retries of the redelivery', async () => (await attempts()).Failed === 8);
    expect((await ana.get('/overview?range=24h')).text).toContain('1 arrived, 1 failed for good.');
    await service.api.delete(`/api/hooks/${id}?pending=cancel`);
    expect(tableRows(await ana.get('/overview?range=24h'), 'subscriptions')[0]![0]).toContain(
      'Removed',
    );
  });
});
