// A workflow asks a customer and goes on with the answer.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startExecutionHost, type ExecutionHost } from '../../helpers/restingExecution.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { askCustomer, goesOn, startTalk, textsTo, waitOf } from './support.ts';

describe('a question to a customer', () => {
  let service: TestService;
  let n8n: ExecutionHost;
  let offset = 0;

  beforeAll(async () => {
    n8n = await startExecutionHost(() => service.api);
    service = await startTestService({
      ca: n8n.ca,
      env: { AGENT_QUIET_MS: '60000' },
      clock: { now: () => new Date(Date.now() + offset) },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await n8n?.close();
  });

  it('is sent, and the execution goes on with all that the customer writes until they are quiet', async () => {
    const talk = await startTalk(service);
    const execution = n8n.execution();
    const wait = await askCustomer(service, talk, execution);
    expect(wait).toMatchObject({ kind: 'reply', status: 'open', resume: { state: 'none' } });
    expect(await textsTo(talk.customer)).toEqual(['What is your order number?']);
    offset += 5000;
    await talk.customer.write('It is');
    offset += 50_000;
    await talk.customer.write('A-1042');
    offset += 50_000;
    expect(await waitOf(service, wait)).toMatchObject({ status: 'open' });
    offset += 11_000;
    const collected = await goesOn(execution);
    expect(collected).toMatchObject({
      id: wait.id,
      status: 'answered',
      answer: { text: 'It is\nA-1042', value: 'It is\nA-1042' },
      resume: { state: 'done' },
    });
    expect(collected.answer.messages).toHaveLength(2);
    // Real time passes too, on top of the test's own steps.
    expect(collected.answer.seconds_waited).toBeGreaterThanOrEqual(55);
    expect(collected.answer.seconds_waited).toBeLessThan(70);
    await waitFor('the attempt on record', async () => {
      const { resume } = await waitOf(service, wait);
      return resume.attempts.length === 1 && resume.attempts[0].problem === null;
    });
    expect(execution.calls).toEqual([wait.id]);
  });

  it('is asked once, however often the request is repeated', async () => {
    const talk = await startTalk(service);
    const fields = {
      kind: 'reply',
      conversation_id: talk.conversationId,
      message: 'Your name?',
      resume_url: n8n.execution().url,
    };
    const key = { 'idempotency-key': talk.conversationId };
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => service.api.post('/api/waits', fields, key)),
    );
    expect(opened.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(opened.map(({ body }) => body.id as string)).size).toBe(1);
    expect(await textsTo(talk.customer)).toEqual(['Your name?']);
  });

  it('is the only one that is open in a conversation: a second one is refused', async () => {
    const talk = await startTalk(service);
    const wait = await askCustomer(service, talk, n8n.execution());
    const second = await service.api.post('/api/waits', {
      kind: 'reply',
      conversation_id: talk.conversationId,
      message: 'And your name?',
      resume_url: n8n.execution().url,
    });
    expect(second.status).toBe(409);
    expect(second.body.error).toMatchObject({ code: 'wait_exists', existing_id: wait.id });
    expect(second.body.error.message).toContain(`POST /api/waits/{id}/cancel`);
    expect(await textsTo(talk.customer)).toHaveLength(1);
  });

  it('takes the place of an earlier one with the same address', async () => {
    const talk = await startTalk(service);
    const execution = n8n.execution();
    const earlier = await askCustomer(service, talk, execution);
    await askCustomer(service, talk, execution, { message: 'And your name?' });
    expect(await waitOf(service, earlier)).toMatchObject({
      status: 'cancelled',
      cancelled_by: null,
      resume: { state: 'none' },
    });
    await talk.customer.write('Kenji');
    offset += 61_000;
    expect(await goesOn(execution)).toMatchObject({ answer: { value: 'Kenji' } });
  });
});
