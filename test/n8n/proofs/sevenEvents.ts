import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TEST_NUMBER } from '../../helpers/graphServer.ts';
import {
  CUSTOMER,
  connectNumber,
  deliver,
  metaText,
  newWamid,
  type ConnectedNumber,
} from '../../helpers/meta.ts';
import { EXTENSION_EVENTS } from '../../../service/src/deliveries/event.ts';
import { payloadSchemas } from '../../../service/src/events/payloadContract.ts';
import {
  eventsOf,
  example,
  payloadOf,
  recordAllEvents,
  type Payload,
  type Stage,
} from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const SEVEN_EVENTS = (Object.keys(payloadSchemas) as (keyof typeof payloadSchemas)[]).filter(
  (event) => !EXTENSION_EVENTS.has(event),
);
const WAMID = newWamid();
const NAME = 'Sheena Nelson';

/**
 * Each of the seven events, from real use: a customer on WhatsApp, a lead that qualifies, a paid
 * link, a take-over, a close.
 */
export function provesSevenEvents(stage: () => Stage): void {
  describe('the seven events, from a customer on WhatsApp who pays', () => {
    const recorder = withWorkflow(stage, recordAllEvents);
    const seller = withWorkflow(stage, example('payment-reminder.json'));
    const api = () => stage().service.api;
    let number: ConnectedNumber;
    let conversationId: string;
    /** How many WhatsApp messages other proofs have sent before. */
    let sentBefore: number;
    const payload = async (event: string): Promise<Payload> =>
      payloadOf(await stage().execution(recorder(), event, conversationId))!;
    const whatsAppTexts = (least: number) =>
      stage().until(`${least} messages on WhatsApp`, () => {
        const texts = stage().graph.texts().slice(sentBefore);
        return texts.length >= least && texts;
      });

    beforeAll(async () => {
      sentBefore = stage().graph.texts().length;
      number = await connectNumber(api(), {
        account: TEST_NUMBER.id,
        accessToken: stage().graph.accessToken,
      });
      expect((await api().post(`/api/channels/${number.id}/test`)).body).toMatchObject({
        ok: true,
      });
      const account = await api().put('/api/payment-accounts/manual', {
        settings: { instructions: 'Transfer to DE00 1234.' },
      });
      expect(account.status).toBe(200);
      const text = 'How much is the demo? Call me: +1 650 555 1234';
      const question = metaText(text, { id: WAMID, name: NAME });
      // Meta may deliver a message twice.
      for (let times = 0; times < 2; times++)
        expect((await deliver(stage().service.url, number, question)).status).toBe(200);
      const { body } = await api().get('/api/conversations?channel=whatsapp_cloud');
      conversationId = body.data[0].id;
    });
    afterAll(async () => {
      await api().delete(`/api/channels/${number.id}`);
      await api().delete('/api/payment-accounts/manual');
    });

    it('and the three that this service adds are subscribed to', () => {
      expect(eventsOf(recorder()).sort()).toEqual(Object.keys(payloadSchemas).sort());
    });

    it('a WhatsApp message opens a conversation: conversation.opened and message.received', async () => {
      expect(await payload('conversation.opened')).toMatchObject({
        conversation: {
          channel: 'whatsapp_cloud',
          contact_name: NAME,
          status: 'ai_active',
          message_count: 1,
        },
      });
      expect(await payload('message.received')).toMatchObject({
        message: {
          direction: 'inbound',
          sender: { type: 'customer', name: NAME },
          text: expect.stringContaining('How much is the demo?'),
          channel_message_id: WAMID,
        },
      });
    });

    it('a stage change makes the workflow create a link and send it on WhatsApp beside the agent: conversation.qualified, message.sent', async () => {
      const { status } = await api().patch(`/api/conversations/${conversationId}`, {
        funnel_stage: 'qualified',
      });
      expect(status).toBe(200);
      expect(await payload('conversation.qualified')).toMatchObject({
        funnel: { stage: 'qualified', previous_stage: 'new' },
      });

      const selling = await stage().execution(seller(), 'conversation.qualified', conversationId);
      const [link] = selling.output['Make a payment link'] as { id: string; url: string }[];
      expect(link).toMatchObject({
        status: 'open',
        amount: 4900,
        currency: 'usd',
        amount_display: 'US$49.00',
        conversation_id: conversationId,
      });
      expect(await whatsAppTexts(1)).toEqual([`Demo, one hour, US$49.00: ${link!.url}`]);
      const page = await fetch(link!.url.replace(/^https?:\/\/[^/]+/, stage().service.url));
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('Transfer to DE00 1234.');

      expect(await payload('message.sent')).toMatchObject({
        message: {
          direction: 'outbound',
          sender: { type: 'api' },
          text: expect.stringContaining(link!.url),
        },
        conversation: { status: 'ai_active', funnel_stage: 'payment_pending' },
      });
    });

    it('the link is paid, and the workflow thanks the customer: payment.paid', async () => {
      const [link] = (await api().get(`/api/payment-links?conversation_id=${conversationId}`)).body
        .data;
      for (let times = 0; times < 2; times++) {
        const { status, body } = await api().post(`/api/payment-links/${link.id}/mark-paid`, {
          reference: 'Transfer 1182',
        });
        expect([status, body.status]).toEqual([200, 'paid']);
      }
      expect(await payload('payment.paid')).toMatchObject({
        payment: {
          id: link.id,
          status: 'paid',
          amount: 4900,
          currency: 'usd',
          description: 'Demo, one hour',
          provider: 'manual',
          provider_reference: 'Transfer 1182',
          paid_at: expect.any(String),
        },
        conversation: { funnel_stage: 'customer' },
      });
      expect((await whatsAppTexts(2))[1]).toBe(
        'Thank you! We have received your payment for "Demo, one hour".',
      );
    });

    it('taken over, then closed: conversation.handed_over, conversation.closed', async () => {
      await api().post(`/api/conversations/${conversationId}/takeover`);
      expect(await payload('conversation.handed_over')).toMatchObject({
        handover: { reason: 'api_takeover' },
        conversation: { status: 'human_active' },
      });
      await api().post(`/api/conversations/${conversationId}/close`, {
        summary: 'Bought the demo.',
        verdict: 'goal_reached',
      });
      expect(await payload('conversation.closed')).toMatchObject({
        outcome: { verdict: 'goal_reached', closed_by: { type: 'api' } },
        conversation: { status: 'closed', funnel_stage: 'customer' },
      });
    });

    it('the executions hold all seven in their documented shape, and no phone number', async () => {
      const executions = await stage().executionsOf(recorder(), conversationId);
      expect(new Set(executions.map(({ status }) => status))).toEqual(new Set(['success']));
      const payloads = executions.map((each) => payloadOf(each)!);
      for (const { delivery_id: deliveryId, ...body } of payloads) {
        expect(deliveryId).toBe(body.id);
        // The schemas are strict: no field is missing, and none is added.
        payloadSchemas[body.event as keyof typeof payloadSchemas].parse(body);
      }
      // One of each, and two of message.sent for the two messages.
      expect(payloads.map(({ event }) => event).sort()).toEqual(
        [...SEVEN_EVENTS, 'message.sent'].sort(),
      );
      expect(JSON.stringify(executions)).not.toMatch(new RegExp(`${CUSTOMER}|650 ?555 ?1234`));
    });
  });
}
