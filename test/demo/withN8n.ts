// The main job with a real n8n: our package is installed as users install it, and a workflow is active.
import { chatCustomer } from '../helpers/apiClient.ts';
import { MEMBER } from '../helpers/browserless.ts';
import { isRuntimeInstalled } from '../n8n/runtime.ts';
import { answerAndClose, openStage, payloadOf, type Stage } from '../n8n/stage.ts';
import { check, checksPassed, fields, quote, say, step, success, title } from './terminal.ts';

const CLAIMS = { name: 'Ada', email: 'ada@example.com', phone: '+49 170 1234567' };
const QUESTION = 'Do you deliver to Sylt? My number is +49 170 1234567.';
/** The events that the demo causes, in their order. */
const EVENTS = [
  'conversation.opened',
  'message.received',
  'conversation.handed_over',
  'message.sent',
  'conversation.closed',
];

/** @param stopped resolves when the person at the terminal has seen enough */
export async function demoWithN8n(stopped: Promise<void>): Promise<void> {
  title(
    'Conversation Service with a real n8n',
    'A real service and a real n8n on one machine; our package is packed and installed as users install it.',
  );
  step('Both start');
  if (!(await isRuntimeInstalled()))
    say('n8n is not installed yet: this takes about five minutes, and 2 GB, once.');
  const startedAt = Date.now();
  const stage = await openStage({ isFirstStart: true, say });
  try {
    check(`both are ready after ${Math.round((Date.now() - startedAt) / 1000)} s`, true);
    await play(stage);
    success(`All ${checksPassed()} checks passed. Both keep running:`);
    await printAddresses(stage);
    await stopped;
    say('Stopping both …');
  } finally {
    await stage.close();
  }
}

async function play(stage: Stage): Promise<void> {
  const { service } = stage;
  step(
    'A workflow that answers and closes (test/n8n/workflows/answer-and-close.json) is imported and activated',
  );
  const workflow = await stage.run(answerAndClose);
  const subscribed = (await stage.subscriptionsOf(workflow)).flatMap(({ events }) => events);
  for (const event of EVENTS)
    check(`${event}: subscribed by the trigger`, subscribed.includes(event), subscribed);

  step('A customer writes in the chat');
  const customer = await chatCustomer(service.url, CLAIMS);
  quote('Ada', QUESTION);
  const { conversation_id: conversationId } = await customer.write(QUESTION);
  check(`accepted as ${conversationId}`, true);

  step('n8n verifies the event and runs the workflow');
  const received = await stage.execution(workflow, 'message.received', conversationId);
  check(
    `execution ${received.id} on ${payloadOf(received)!.id} succeeded`,
    received.status === 'success',
    received,
  );
  check(
    'the contact is masked everywhere in it',
    !/1234567|ada@example/.test(JSON.stringify(received)),
  );

  step('The customer reads the workflow’s answer');
  const messages = await customer.read();
  quote('Ada reads', messages[1]?.text as string);
  check(
    'one answer, from the team',
    messages.length === 2 && messages[1].from === 'team',
    messages,
  );

  step('The workflow has closed the conversation with its verdict');
  const { body } = await service.api.get(`/api/conversations/${conversationId}`);
  check(
    `${body.outcome?.verdict}: “${body.outcome?.summary}”`,
    body.status === 'closed' && body.outcome.verdict === 'goal_reached',
    body,
  );

  step('Each of these steps reached n8n as an event');
  for (const event of EVENTS) {
    const execution = await stage.execution(workflow, event, conversationId);
    check(`${event}: execution ${execution.id}`, execution.status === 'success', execution);
  }
}

/** Prints what a person needs to go on by hand. */
async function printAddresses({ service, n8n, credential }: Stage): Promise<void> {
  const { token } = await chatCustomer(service.url, { name: 'You' });
  fields([
    ['n8n', n8n.url],
    ['  log in as', `${n8n.owner.email}  ${n8n.owner.password}`],
    ['  credential', credential.name],
    ['service', service.url],
    ['  sign in as', `${MEMBER.email}  ${MEMBER.password}`],
    ['  API', `${service.url}/api/docs`],
    ['  API key', service.apiKey],
    ['  log', service.logFile],
    [
      'write',
      `curl ${service.url}/api/chat/messages -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"text":"Hello","client_message_id":"'$RANDOM'"}'`,
    ],
    ['read', `curl ${service.url}/api/chat/messages -H 'Authorization: Bearer ${token}'`],
  ]);
  say('Ctrl-C stops both and removes their data.');
}
