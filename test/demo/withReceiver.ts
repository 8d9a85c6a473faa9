// The main job with a receiver of our own in n8n's place: what any automation platform sees.
import { chatCustomer } from '../helpers/apiClient.ts';
import { EMITTED_EVENTS, signatureFault } from '../helpers/eventReceiver.ts';
import { startServiceProcess, type ServiceProcess } from '../helpers/serviceProcess.ts';
import {
  sharedTestCa,
  startTlsReceiver,
  writeTlsFiles,
  type ReceivedRequest,
  type TlsReceiver,
} from '../helpers/tls.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { Payload } from '../n8n/stage.ts';
import { demoAgentWithTool } from './agentWithTool.ts';
import { check, quote, say, step, title } from './terminal.ts';

const CLAIMS = { name: 'Ada', email: 'ada@example.com', phone: '+49 170 1234567' };
const QUESTION = 'Do you deliver to Sylt? My number is +49 170 1234567.';
const ANSWER = 'We do, every Tuesday.';

export async function demoWithReceiver(): Promise<void> {
  title(
    'Conversation Service: from a customer’s message to an automation’s answer',
    'A real service, a customer in its chat, and a local https receiver that verifies every signature itself.',
  );
  const tls = await writeTlsFiles(await sharedTestCa());
  try {
    await withService(tls.caFile);
  } finally {
    await tls.remove();
  }
}

async function withService(caFile: string): Promise<void> {
  step('The service starts on its embedded store');
  const startedAt = Date.now();
  const service = await startServiceProcess({ caFile });
  try {
    check(`ready at ${service.url} after ${Date.now() - startedAt} ms`, true);
    const receiver = await startFlakyReceiver();
    try {
      await play(service, receiver);
      await demoAgentWithTool(service);
      say('The same with a real n8n: npm run demo -- --n8n');
    } finally {
      await receiver.close();
    }
  } finally {
    await service.close();
  }
}

/** Answers 200, and 503 to the first delivery of message.sent alone. */
function startFlakyReceiver(): Promise<TlsReceiver> {
  let hasFailed = false;
  return startTlsReceiver(({ headers }, response) => {
    const fails = headers['x-service-event'] === 'message.sent' && !hasFailed;
    hasFailed ||= fails;
    response.writeHead(fails ? 503 : 200).end();
  });
}

const payloadOf = (request: ReceivedRequest) =>
  JSON.parse(request.rawBody.toString('utf8')) as Payload;

async function play({ api, url, workspace }: ServiceProcess, receiver: TlsReceiver): Promise<void> {
  const secrets = new Map<string, string>();

  step('An automation subscribes to the events');
  for (const event of EMITTED_EVENTS) {
    const { status, body } = await api.post('/api/hooks', {
      event,
      target_url: `${receiver.url}/events`,
      source: 'demo',
    });
    check(
      `${event}: subscribed, its secret is shown once`,
      status === 201 && /^whsec_/.test(body.secret),
      body,
    );
    secrets.set(event, body.secret as string);
  }
  const listed = await api.get('/api/hooks');
  check(
    'the list of subscriptions shows no secret',
    !JSON.stringify(listed.body).includes('whsec_'),
  );
  const refused = await api.post('/api/hooks', {
    event: 'message.sent',
    target_url: 'http://localhost/events',
    source: 'demo',
  });
  check(
    'an http:// address is refused',
    refused.status === 422 && refused.body.error.code === 'target_url_not_https',
    refused.body,
  );

  const requestsOf = (event: string) =>
    receiver.requests.filter(({ headers }) => headers['x-service-event'] === event);
  /** Waits for the nth (from 1) delivery of the event, and verifies it. */
  const arrives = async (event: string, nth = 1) => {
    const request = await waitFor(`${event} to arrive`, () => requestsOf(event)[nth - 1]);
    const fault = signatureFault(request, secrets.get(event)!);
    check(`${event}: signature verified over the raw body`, fault === null, fault);
    const payload = payloadOf(request);
    check(
      `${event}: header and body agree on ${payload.id}`,
      payload.event === event &&
        request.headers['x-service-delivery'] === payload.id &&
        payload.workspace === workspace,
      payload,
    );
    return { request, payload };
  };

  step('A customer writes in the chat');
  const customer = await chatCustomer(url, CLAIMS);
  quote('Ada', QUESTION);
  const { conversation_id: conversationId } = await customer.write(QUESTION);
  check(`accepted as ${conversationId}`, conversationId.startsWith('conv_'));

  step('The events reach the automation, signed');
  await arrives('conversation.opened');
  const { request, payload } = await arrives('message.received');
  check(
    `the contact is masked everywhere: ${String(payload.conversation.contact_display)}`,
    !/1234567|ada@example/.test(request.rawBody.toString('utf8')),
    payload,
  );
  const forged = {
    ...request,
    rawBody: Buffer.from(request.rawBody.toString('utf8').replace('Sylt', 'Elba')),
  };
  check(
    'a changed body does not verify',
    signatureFault(forged, secrets.get('message.received')!) !== null,
  );

  step('The automation answers through the API');
  const sent = await api.post(`/api/conversations/${conversationId}/messages`, { text: ANSWER });
  check(
    'the message is sent, and the agent is paused',
    sent.status === 201 && sent.body.conversation.status === 'human_active',
    sent.body,
  );
  await arrives('conversation.handed_over');
  const messages = await waitFor('the answer in the chat', async () => {
    const read = await customer.read();
    return read.length === 2 && read;
  });
  quote('Ada reads', messages[1].text as string);
  check('the customer reads the answer', messages[1].text === ANSWER, messages);

  step('The receiver fails once, and the delivery comes again');
  const again = await arrives('message.sent', 2);
  const [first] = requestsOf('message.sent');
  check('the same id and the same bytes after a 503', first!.rawBody.equals(again.request.rawBody));

  step('The lead qualifies, and the conversation is closed with a verdict');
  await api.patch(`/api/conversations/${conversationId}`, { funnel_stage: 'qualified' });
  const qualified = await arrives('conversation.qualified');
  check(
    'from new to qualified',
    JSON.stringify(qualified.payload.funnel) === '{"stage":"qualified","previous_stage":"new"}',
    qualified.payload,
  );
  await api.post(`/api/conversations/${conversationId}/close`, {
    summary: 'Delivers to Sylt',
    verdict: 'goal_reached',
  });
  const closed = await arrives('conversation.closed');
  const outcome = closed.payload.outcome as { verdict: string; summary: string };
  check(
    `closed: ${outcome.verdict}, “${outcome.summary}”`,
    outcome.verdict === 'goal_reached',
    outcome,
  );

  step('The service remembers what it delivered');
  const hooks = (await api.get('/api/hooks')).body.data as { id: string; event: string }[];
  for (const { id, event } of hooks) {
    const [delivery] = await waitFor(`the delivery of ${event} to be recorded`, async () => {
      const { data } = (await api.get(`/api/hooks/${id}/deliveries?status=delivered`)).body;
      return data.length > 0 && (data as { attempts: { status_code: number }[] }[]);
    });
    check(
      `${event}: delivered (${delivery!.attempts.map(({ status_code }) => status_code).join(', then ')})`,
      true,
    );
  }
}
