// The agent's screen chooses what decides, and says who holds the agent in n8n.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { TOOL_TEST_ENV } from '../../../helpers/toolEndpoint.ts';
import { OWNER as KNOWN_OWNER, ownerQuery } from '../webhook/workflowStage.ts';

const ENDPOINT = 'https://127.0.0.1:5678/webhook/6f1c2a52/agent';
const OWNER = { ...KNOWN_OWNER, workflow_name: 'Support <agent>' };
const OTHER = { ...OWNER, workflow_id: 'workflow-2', workflow_name: 'Night shift' };

let service: TestService;
let browser: Browserless;
let now = Date.now();
beforeAll(async () => {
  const clock = { now: () => new Date(now) };
  service = await startTestService({ env: { ...MEMBER_ENV, ...TOOL_TEST_ENV }, clock });
  browser = await signedInBrowser(service.url);
});
afterAll(() => service?.stop());

const publish = (owner = OWNER, more = {}) =>
  service.api.put('/api/agent/webhook', { endpoint: ENDPOINT, owner, ...more });
const unpublish = (owner = OWNER) => service.api.delete(`/api/agent/webhook?${ownerQuery(owner)}`);
const page = async () => (await browser.get('/agent')).text;
const agent = async () => (await service.api.get('/api/agent')).body;

it('tells how to make a workflow the agent while none ever was, and offers nothing to choose', async () => {
  expect(await page()).toContain('None has been published as the agent yet');
  expect((await browser.get('/agent')).html).not.toContain('id="use-workflow"');
  expect(await page()).not.toContain('The workflow’s last turns');
});

describe('with a workflow published', () => {
  beforeEach(async () => void (await publish(OWNER, { take_over: true, turn_on: true })));

  it('shows it as what is used, with its owner in words, its address and its time', async () => {
    const text = await page();
    expect(text).toContain('Workflow in use');
    expect(text).toContain('the workflow "Support <agent>" of the n8n at n8n.example.com');
    expect(text).toContain(ENDPOINT);
    expect(text).toContain('60 s');
    expect(text).not.toContain('No workflow is published');
  });

  it('a member chooses the keyword agent, and the workflow again', async () => {
    expect((await browser.post('/agent/brain', { brain: 'model' })).text).toContain(
      'Keyword agent in use',
    );
    expect((await agent()).decided_by).toBe('keyword');
    expect((await browser.post('/agent/brain', { brain: 'workflow' })).text).toContain(
      'Workflow in use',
    );
    expect((await agent()).decided_by).toBe('webhook');
  });

  it('a member releases it, so that another workflow can take its place and this one goes on', async () => {
    expect((await publish(OTHER)).status).toBe(409);
    const released = await browser.post('/agent/release');
    expect(released.text).toContain('Another workflow can now take over by publishing.');
    expect(released.text).toContain('Another workflow can take over by publishing.');
    expect(released.html).not.toContain('id="release"');
    expect((await agent()).webhook).toMatchObject({ removed_at: null, released: true });
    // Its n8n starts again, with another WEBHOOK_URL.
    const endpoint = ENDPOINT.replace('5678', '5679');
    expect((await publish(OWNER, { keep_settings: true, endpoint })).status).toBe(200);
    expect((await publish(OTHER)).status).toBe(200);
    expect(await page()).toContain('Night shift');
  });

  it('says since when it is unpublished and what becomes of customers, until another brain is chosen', async () => {
    await unpublish();
    now += 5 * 60_000;
    const text = await page();
    expect(text).toContain(
      'No workflow is published as the agent. It was unpublished 5 minutes ago',
    );
    expect(text).toContain('waits for a minute, then a person gets the conversation');
    expect(text).toContain('State Unpublished 5 minutes ago');
    await browser.post('/agent/brain', { brain: 'model' });
    expect(await page()).not.toContain('No workflow is published as the agent');
  });

  it('refuses a try while nothing is there to answer it, in words, and keeps what was typed', async () => {
    await unpublish();
    const refused = await browser.post('/agent/try', { text: 'Where is my order?' });
    expect(refused.status).toBe(409);
    expect(refused.problem('text')).toContain('No workflow is there to answer.');
    expect(refused.text).toContain('Where is my order?');
  });
});

it('says which editor listens for a test event, for as long as it does', async () => {
  await browser.post('/agent/brain', { brain: 'model' });
  await service.api.put('/api/agent/test-webhook', { endpoint: ENDPOINT, owner: OWNER });
  expect(await page()).toContain('listens for a test event. Messages under “Try it” go there.');
  now += 121_000;
  expect(await page()).not.toContain('listens for a test event');
});
