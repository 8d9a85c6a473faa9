// The first hour: its steps, which tick themselves, and its test message.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless } from '../../helpers/browserless.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { connectNumber } from '../../helpers/meta.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { teamOfTwo } from '../../helpers/teamOfTwo.ts';
import { waitFor } from '../../helpers/waitFor.ts';

let service: TestService;
let ana: Browserless;
let ben: Browserless;
let receiver: EventReceiver;
async function start() {
  service = await startTestService({ env: MEMBER_ENV, ca: receiver.ca });
  ({ ana, ben } = await teamOfTwo(service, 'member'));
}
beforeAll(async () => {
  receiver = await startEventReceiver();
  await start();
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

const doneSteps = async (by: Browserless = ana): Promise<readonly string[]> =>
  [...(await by.get('/overview')).html.matchAll(/id="step-(\w+)" data-done="true"/g)].map(
    ([, step]) => step!,
  );

it('begins with what is done: the key, and the colleague who joined', async () => {
  expect(await doneSteps()).toEqual(['key', 'colleague']);
  expect((await ana.get('/overview')).text).toContain('First steps: 2 of 7 done');
});

it('sends a test message that is a conversation like any other', async () => {
  const { html } = await ana.get('/overview');
  const [, form] = /name="form" value="([\w-]+)"/.exec(html)!;
  const post = () => ana.post('/overview/test-message', { form: form! });
  const [page, again] = await Promise.all([post(), post()]);
  expect(again.path).toBe(page.path);
  expect(page.path).toMatch(/^\/conversations\/conv_\w+\?notice=test-message$/);
  expect(page.text).toContain('Hello! This is a test message from the Overview.');
  const { body } = await service.api.get('/api/conversations');
  expect(body.data).toHaveLength(1);
  expect(body.data[0].contact.name).toBe('Test customer');
});

it('ticks the answer and the agent once they are there', async () => {
  const { body } = await service.api.get('/api/conversations');
  await service.api.post(`/api/conversations/${body.data[0].id}/messages`, { text: 'Hello!' });
  await service.api.patch('/api/agent', { enabled: true });
  expect(await doneSteps()).toEqual(['key', 'answer', 'agent', 'colleague']);
});

it('is shown to a member without the test message, which is an owner’s', async () => {
  const { html, text } = await ben.get('/overview');
  expect(text).toContain('First steps');
  expect(html).not.toContain('/overview/test-message');
});

it('ticks the channel when one is connected, before anybody writes', async () => {
  expect(await doneSteps()).not.toContain('channel');
  const { id } = await connectNumber(service.api);
  expect(await doneSteps()).toContain('channel');
  await service.api.call('DELETE', `/api/channels/${id}`);
  expect(await doneSteps()).not.toContain('channel');
});

it('ticks n8n, the first customer’s message and its event, then ends by itself, and does not come again', async () => {
  await service.api.post('/api/hooks', {
    event: 'message.received',
    target_url: `${receiver.url}/hook`,
    source: 'n8n',
  });
  expect(await doneSteps()).toEqual(['key', 'n8n', 'answer', 'agent', 'colleague']);
  expect((await ana.get('/overview')).text).toContain('First steps: 5 of 7 done');
  await (await chatCustomer(service.url)).write('Hello');
  await waitFor(
    'the last step',
    async () => !(await ana.get('/overview')).text.includes('First steps'),
  );
  await service.api.patch('/api/agent', { enabled: false });
  expect((await ana.get('/overview')).text).not.toContain('First steps');
});

it('does not come again once it was dismissed', async () => {
  await service.stop();
  await start();
  expect((await ana.get('/overview')).text).toContain('First steps:');
  const { path, text } = await ana.post('/overview/first-steps/dismiss');
  expect(path).toBe('/overview?notice=first-steps-dismissed');
  expect(text).not.toContain('First steps:');
  expect((await ana.get('/overview')).text).not.toContain('First steps:');
});
