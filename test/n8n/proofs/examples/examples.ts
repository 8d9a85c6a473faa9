import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import { example, examplesFolder, payloadOf, type Stage } from '../../stage.ts';
import { provesAiAgent } from './aiAgent.ts';
import { exampleRunner, setField } from './exampleRunner.ts';
import { provesTriage } from './triage.ts';
import { provesUrgentToTheTeam } from './urgentToTheTeam.ts';
import { provesWaiting } from './waiting.ts';

/** The files of examples/workflows do what they say, changed only as their notes tell a user to. */
export function provesExamples(stage: () => Stage): void {
  describe('the example workflows', () => {
    const runner = exampleRunner(stage);
    const { run, runByHand, asksForPerson } = runner;
    const api = () => stage().service.api;

    provesUrgentToTheTeam(stage, runner);
    provesAiAgent(stage);
    provesTriage(stage);
    provesWaiting(stage);

    it('are all proven', () => {
      const provenInTools = ['find-order-tool'];
      const provenHere = [
        'after-hours-answer',
        'ai-agent',
        'ai-agent-with-review',
        'daily-summary',
        'lead-to-crm',
        'payment-reminder',
        'refund',
        'triage',
        'urgent-to-the-team',
      ];
      expect(readdirSync(examplesFolder).sort()).toEqual(
        [...provenHere, ...provenInTools].map((name) => `${name}.json`).sort(),
      );
    });

    it('after-hours-answer answers once when nobody works, and leaves control as it is', async () => {
      const always = { days: [1, 2, 3, 4, 5, 6, 7], opens: '00:00', closes: '24:00' };
      const whileOpen = await run('after-hours-answer', (node) => {
        for (const [field, value] of Object.entries(always))
          setField(node('Opening hours'), field, value);
      });
      const early = await stage().customerWrites('Is somebody there?');
      const inTime = await stage().execution(whileOpen, 'message.received', early.conversationId);
      expect(inTime.status).toBe('success');
      expect(inTime.output['Say when we are back']).toBeUndefined();
      await stage().retire(whileOpen);

      const whileClosed = await run('after-hours-answer', (node) =>
        setField(node('Opening hours'), 'days', []),
      );
      const late = await stage().customerWrites('Is somebody there?');
      const { conversationId } = late;
      await stage().execution(whileClosed, 'message.received', conversationId);
      await late.write('Hello?');
      await stage().until(
        'the second execution',
        async () => (await stage().executionsOf(whileClosed, conversationId)).length === 2,
      );
      expect(await late.read()).toMatchObject([
        { from: 'customer' },
        { from: 'team', text: expect.stringContaining('We are back on working days') },
        { from: 'customer' },
      ]);
      expect((await api().get(`/api/conversations/${conversationId}`)).body.status).toBe(
        'ai_active',
      );
    });

    it('after-hours-answer does not answer a message from outside opening hours that arrives within them', async () => {
      /** Monday is 1, Sunday is 7. */
      const weekdayIn = (hoursFromNow: number) =>
        ((new Date(Date.now() + hoursFromNow * 3_600_000).getUTCDay() + 6) % 7) + 1;
      const workflow = await run('after-hours-answer', (node) => {
        const hours = { days: [weekdayIn(0), weekdayIn(1)], opens: '00:00', closes: '24:00' };
        for (const [field, value] of Object.entries({ ...hours, time_zone: 'UTC' }))
          setField(node('Opening hours'), field, value);
      });
      const customer = await stage().customerWrites('Is somebody there?');
      const { conversationId } = customer;
      const inTime = payloadOf(
        await stage().execution(workflow, 'message.received', conversationId),
      )!;
      const { delivery_id: _, ...payload } = inTime;
      const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString();
      const late = { ...payload, id: 'evt_caught_up', occurred_at: yesterday };
      await stage().deliver(workflow, JSON.stringify(late), {
        secret: await stage().secretOf(workflow),
        event: late.event,
      });
      const caughtUp = await stage().until('the second execution', async () =>
        (await stage().executionsOf(workflow, conversationId)).find(
          (each) => payloadOf(each)!.occurred_at === yesterday,
        ),
      );
      expect(caughtUp).toMatchObject({ status: 'success' });
      expect(caughtUp.output['Say when we are back']).toBeUndefined();
      expect(await customer.read()).toHaveLength(1);
    });

    it('lead-to-crm makes a lead whose contact details are not masked', async () => {
      const ana = await signedInBrowser(stage().service.url);
      const { html } = await ana.post('/keys', { name: 'CRM', reveal: 'on' });
      const credential = await stage().n8n.createCredential(
        'conversationServiceApi',
        { baseUrl: stage().service.url, apiKey: /cs_live_\w{32}/.exec(html)![0] },
        'For the CRM',
      );
      const workflow = await run('lead-to-crm', (node) => {
        node('Get the contact').credentials = { conversationServiceApi: credential };
      });
      const { conversationId } = await stage().customerWrites('I take two', {
        name: 'Grace',
        email: 'grace@example.com',
        phone: '+49 170 1234567',
      });
      await api().patch(`/api/conversations/${conversationId}`, { funnel_stage: 'qualified' });
      const execution = await stage().execution(workflow, 'conversation.qualified', conversationId);
      expect(execution.output['Create it in the CRM']).toEqual([
        {
          name: 'Grace',
          email: 'grace@example.com',
          phone: '+491701234567',
          channel: 'web_chat',
          stage: 'qualified',
          external_id: conversationId,
        },
      ]);
    });

    it('daily-summary counts the conversations of the day, and names everybody who waits for a person', async () => {
      const waiting = await asksForPerson('Grace Older');
      // The day of the summary begins after she wrote.
      const dayBegins = new Date(Date.now() + 1).toISOString();
      await stage().until('the day to begin', () => new Date().toISOString() > dayBegins);
      const closed = await stage().customerWrites('Thank you, that was all');
      await api().post(`/api/conversations/${closed.conversationId}/close`, {
        summary: 'Content.',
        verdict: 'goal_reached',
      });
      const { n8n, credential } = stage();
      const file = example('daily-summary.json');
      const workflow = await n8n.importWorkflow(file, credential, (node) => {
        const { filters } = node("Get the day's conversations").parameters;
        expect(filters).toEqual({ updated_since: '={{ $now.minus({ hours: 24 }).toISO() }}' });
        (filters as { updated_since: string }).updated_since = dayBegins;
      });
      const { output } = await runByHand(workflow, 'Every evening');
      const [summary] = output['Send it to the team'] as { text: string; conversations: number }[];
      const ids = output["Get the day's conversations"]!.map(({ id }) => id);
      expect(ids).toContain(closed.conversationId);
      expect(ids).not.toContain(waiting.conversationId);
      expect(summary!.conversations).toBe(ids.length);
      expect(summary!.text).toMatch(
        /^\d+ conversations in the last 24 hours\nChannels: .*web_chat: \d+.*\nOutcomes: .*goal_reached: \d+.*\nWaiting for a person: .*Grace Older/,
      );
    });

    // sevenEvents.ts proves the rest of it: the link and the thanks.
    it('payment-reminder reminds once of a link that has been open for as long as it says', async () => {
      await api().put('/api/payment-accounts/manual', {
        settings: { instructions: 'Transfer to DE00 1234.' },
      });
      const customer = await stage().customerWrites('I will pay later');
      const { body: link } = await api().post(
        `/api/conversations/${customer.conversationId}/payment-links`,
        { amount: 4900, currency: 'usd', description: 'Demo, one hour' },
      );

      const unchanged = await run('payment-reminder');
      const tooEarly = await runByHand(unchanged, 'Every morning');
      expect(tooEarly.output['Get open links']).toContainEqual(
        expect.objectContaining({ id: link.id }),
      );
      expect(tooEarly.output['Remind the customer']).toBeUndefined();
      await stage().retire(unchanged);

      const workflow = await run('payment-reminder', (node) =>
        setField(node('Remind after'), 'days', 0),
      );
      for (let times = 0; times < 2; times++) await runByHand(workflow, 'Every morning');
      expect((await customer.read()).map(({ text }) => text)).toEqual([
        'I will pay later',
        `May I remind you? Demo, one hour, US$49.00: ${link.url}`,
      ]);
      await api().delete('/api/payment-accounts/manual');
    });
  });
}
