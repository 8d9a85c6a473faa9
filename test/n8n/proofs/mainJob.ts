import { beforeAll, describe, expect, it } from '@jest/globals';
import { answerAndClose, payloadOf, type Customer, type Stage } from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const CLAIMS = {
  name: 'Ada Lovelace',
  email: 'ada.lovelace@example.com',
  phone: '+49 170 1234567',
};
const TEXT =
  'Do you deliver to Sylt? Call me on +49 170 1234567 or write to ada.lovelace@example.com.';

/** A customer's message reaches a workflow, and the workflow's answer reaches the customer. */
export function provesMainJob(stage: () => Stage): void {
  describe('the main job', () => {
    const workflow = withWorkflow(stage, answerAndClose, {
      sentBy: ['agent', 'api', 'team_member'],
    });
    let customer: Customer;
    const execution = (event: string) =>
      stage().execution(workflow(), event, customer.conversationId);

    beforeAll(async () => {
      customer = await stage().customerWrites(TEXT, CLAIMS);
    });

    it('starts an execution with the payload of message.received, contact details masked', async () => {
      const received = await execution('message.received');
      const payload = payloadOf(received)!;
      expect(received.status).toBe('success');
      expect(payload).toEqual({
        id: expect.stringMatching(/^evt_/),
        delivery_id: payload.id,
        event: 'message.received',
        occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/),
        workspace: 'demo',
        conversation: {
          id: customer.conversationId,
          agent_id: expect.any(String),
          channel: 'web_chat',
          contact_display: expect.stringContaining('•'),
          contact_name: 'Ada Lovelace',
          status: 'ai_active',
          funnel_stage: 'new',
          message_count: 1,
        },
        message: {
          id: expect.stringMatching(/^msg_/),
          direction: 'inbound',
          sender: { type: 'customer', name: 'Ada Lovelace' },
          type: 'text',
          text: expect.stringContaining('Do you deliver to Sylt?'),
          channel_message_id: expect.any(String),
          created_at: expect.any(String),
        },
      });
      expect(JSON.stringify(received)).not.toMatch(/1234567|lovelace@/);
    });

    it("lets the customer read the workflow's reply", async () => {
      const messages = await stage().until('the reply', async () => {
        const read = await customer.read();
        return read.length > 1 && read;
      });
      expect(messages).toMatchObject([
        { from: 'customer', text: TEXT },
        { from: 'team', text: expect.stringContaining('Thank you, Ada Lovelace!') },
      ]);
    });

    it('closes the conversation with the verdict and summary of the workflow', async () => {
      await execution('conversation.closed');
      const { body } = await stage().service.api.get(
        `/api/conversations/${customer.conversationId}`,
      );
      expect(body).toMatchObject({
        status: 'closed',
        outcome: {
          verdict: 'goal_reached',
          summary: expect.stringContaining('Answered automatically.'),
        },
      });
    });

    it('starts executions for opened, handed_over, sent and closed, with the details of each', async () => {
      expect(payloadOf(await execution('conversation.opened'))).toMatchObject({
        conversation: { message_count: 1 },
      });
      expect(payloadOf(await execution('conversation.handed_over'))).toMatchObject({
        conversation: { status: 'human_active' },
        handover: { reason: 'api_message', triggered_by: { type: 'api' } },
      });
      expect(payloadOf(await execution('message.sent'))).toMatchObject({
        message: {
          direction: 'outbound',
          sender: { type: 'api' },
          text: expect.stringContaining('Thank you'),
        },
      });
      expect(payloadOf(await execution('conversation.closed'))).toMatchObject({
        conversation: { status: 'closed' },
        outcome: { verdict: 'goal_reached', closed_by: { type: 'api' } },
      });
    });

    it('starts an execution for qualified when the funnel stage is set', async () => {
      const { status } = await stage().service.api.patch(
        `/api/conversations/${customer.conversationId}`,
        { funnel_stage: 'qualified' },
      );
      expect(status).toBe(200);
      expect(payloadOf(await execution('conversation.qualified'))).toMatchObject({
        funnel: { stage: 'qualified', previous_stage: 'new' },
      });
    });

    it('has started one execution for each of the six events, and every one succeeded', async () => {
      const executions = await stage().executionsOf(workflow(), customer.conversationId);
      expect(executions.map((each) => payloadOf(each)?.event).sort()).toEqual([
        'conversation.closed',
        'conversation.handed_over',
        'conversation.opened',
        'conversation.qualified',
        'message.received',
        'message.sent',
      ]);
      expect(new Set(executions.map(({ status }) => status))).toEqual(new Set(['success']));
    });

    it('leaves one delivery of each event, all delivered, and an active subscription', async () => {
      const [subscription] = await stage().subscriptionsOf(workflow());
      expect(subscription!.status).toBe('active');
      const deliveries: { event: string; status: string }[] = await stage().until(
        'every delivery to be recorded',
        async () => {
          const { body } = await stage().service.api.get(
            `/api/hooks/${subscription!.id}/deliveries`,
          );
          return (
            body.data.every(({ status }: { status: string }) => status !== 'pending') && body.data
          );
        },
      );
      expect(deliveries.map(({ event }) => event).sort()).toEqual([...subscription!.events].sort());
      expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(['delivered']));
    });

    it('answers ten customers who write at the same time, each of them once', async () => {
      const customers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          stage().customerWrites(`Question ${index}`, { name: `Customer ${index}` }),
        ),
      );
      const answered = await stage().until(
        'every answer',
        async () => {
          const chats = await Promise.all(customers.map((each) => each.read()));
          return chats.every((messages) => messages.length > 1) && chats;
        },
        { timeoutMs: 100_000 },
      );
      answered.forEach((messages, index) => {
        expect(messages.map(({ text }: { text: string }) => text)).toEqual([
          `Question ${index}`,
          `Thank you, Customer ${index}! We have received your message: "Question ${index}"`,
        ]);
      });
    });
  });
}
