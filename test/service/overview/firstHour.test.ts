// The first hour: what ticks itself, and the message that makes it begin.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MEMBER_ENV, type Browserless } from '../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { teamOfTwo } from '../../helpers/teamOfTwo.ts';

let service: TestService;
let ana: Browserless;
let ben: Browserless;
beforeAll(async () => {
  service = await startTestService({ env: MEMBER_ENV });
  ({ ana, ben } = await teamOfTwo(service, 'member'));
});
afterAll(() => service?.stop());

const doneSteps = async (by: Browserless = ana): Promise<readonly string[]> =>
  [...(await by.get('/overview')).html.matchAll(/id="step-(\w+)" data-done="true"/g)].map(
    ([, step]) => step!,
  );

it('begins with what is done: the key, and the colleague who joined', async () => {
  expect(await doneSteps()).toEqual(['key', 'colleague']);
  expect((await ana.get('/overview')).text).toContain('First steps: 2 of 7 done');
});

it('sends a test message that is a conversation like any other', async () => {
  await ana.get('/overview');
  const page = await ana.post('/overview/test-message');
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

it('is an owner’s: a member sees it, and neither sends nor dismisses', async () => {
  const { html, text } = await ben.get('/overview');
  expect(text).toContain('First steps');
  expect(html).not.toContain('/overview/test-message');
  for (const path of ['/overview/test-message', '/overview/first-steps/dismiss'])
    expect((await ben.post(path)).status).toBe(403);
});

it('does not come again once it was dismissed', async () => {
  await ana.get('/overview');
  const { path, text } = await ana.post('/overview/first-steps/dismiss');
  expect(path).toBe('/overview?notice=first-steps-dismissed');
  expect(text).not.toContain('First steps:');
  expect((await ana.get('/overview')).text).not.toContain('First steps:');
});
