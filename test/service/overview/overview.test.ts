// What the overview says of conversations, compared with what happened.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { barCounts, chartTable, figure, totals } from './support.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

describe('the overview', () => {
  let service: TestService;
  let ana: Browserless;
  /** Begins at noon in UTC, so that a few hours later it is the same day. */
  let now: number;

  beforeEach(async () => {
    now = Date.parse('2026-11-21T12:00:00Z');
    service = await startTestService({
      env: { ...MEMBER_ENV, AGENT_QUIET_MS: '0' },
      clock: { now: () => new Date(now) },
    });
    ana = await signedInBrowser(service.url);
  });
  afterEach(() => service?.stop());

  const write = async (text = 'Hello') => {
    const customer = await chatCustomer(service.url);
    const { conversation_id: id } = await customer.write(text);
    return { customer, path: `/api/conversations/${id}` };
  };
  const close = (path: string) =>
    service.api.post(`${path}/close`, { summary: 'Done', verdict: 'goal_reached' });

  it('says what will come while nothing has happened', async () => {
    const page = await ana.get('/overview');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Turn the agent on, or answer a conversation.');
    for (const id of ['conversations', 'answers', 'first-answer', 'resolution'])
      expect(chartTable(page, id)).toBeNull();
    expect(figure(page, 'First answer, median')).toBe('–');
  });

  it('counts what is opened, answered, handed over and closed, in its hour and day', async () => {
    const first = await write();
    const second = await write();
    now += 2 * MINUTE;
    await service.api.post(`${first.path}/messages`, { text: 'Hi!' });
    now += HOUR;
    await first.customer.write('Thanks');
    await service.api.post(`${first.path}/messages`, { text: 'Welcome!' });
    await close(first.path);
    await service.api.post(`${second.path}/takeover`);
    await service.api.post(`${second.path}/handback`);
    await service.api.post(`${second.path}/takeover`);
    await write();

    const page = await ana.get('/overview?range=24h');
    const hourly = chartTable(page, 'conversations')!;
    expect(hourly.Opened!.slice(-2)).toEqual([2, 1]);
    expect(hourly.Closed!.slice(-2)).toEqual([0, 1]);
    expect(hourly.Opened).toHaveLength(24);
    expect(chartTable(page, 'answers')!.API!.slice(-2)).toEqual([1, 1]);
    // Two minutes, off by a tenth at most.
    expect(chartTable(page, 'first-answer')!.Median!.at(-2)).toBeCloseTo(2, 0);
    expect(figure(page, 'Resolution, median')).toMatch(/^(5[6-9] min|1(\.1)? h)$/);
    // Two of the three were handed over, one of them twice.
    expect(figure(page, 'Handed over')).toBe('67 %');
    expect(barCounts(page, 'handovers')).toEqual({
      'An automation took over': 2,
      'An automation wrote to the customer': 1,
    });

    const daily = chartTable(await ana.get('/overview'), 'conversations')!;
    expect(daily.Opened).toEqual([0, 0, 0, 0, 0, 0, 3]);
    expect(daily['Day (UTC)']!.at(-1)).toBe(21);
  });

  it('draws the days of the reader’s time zone, which each member chooses', async () => {
    now = Date.parse('2026-11-21T23:30:00Z');
    await write();
    expect((await ana.get('/overview')).text).toContain('you have not chosen one in your account');
    await ana.get('/account');
    await ana.post('/account/profile', { name: 'Ana', timeZone: 'America/New_York' });
    const inNewYork = await ana.get('/overview');
    expect(inNewYork.text).toContain('time zone America/New York, the one of your account');
    expect(chartTable(inNewYork, 'conversations')!['Day (America/New York)']!.at(-1)).toBe(21);
    const hours = await ana.get('/overview?range=24h');
    expect(chartTable(hours, 'conversations')!['Hour (America/New York)']!.at(-1)).toBe(18);
    await ana.post('/account/profile', { name: 'Ana', timeZone: 'Europe/Berlin' });
    const inBerlin = chartTable(await ana.get('/overview'), 'conversations')!;
    expect(inBerlin['Day (Europe/Berlin)']!.at(-1)).toBe(22);
    expect(inBerlin.Opened!.slice(-2)).toEqual([0, 1]);
  });

  it('folds what is empty to a line, below what is not', async () => {
    await write();
    const { html, text } = await ana.get('/overview');
    expect(text).toContain('Tool calls no data What the agent does with its tools');
    const places = ['conversations', 'tool-calls', 'approvals'].map((id) =>
      html.indexOf(`aria-labelledby="${id}-title"`),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(html.indexOf('class="empty-charts"')).toBeLessThan(places[1]!);
    expect(html.indexOf('class="empty-charts"')).toBeGreaterThan(places[0]!);
  });

  it('moves on with the days, and keeps what was counted over a restart', async () => {
    await write();
    now += 2 * DAY;
    await service.restart();
    ana = await signedInBrowser(service.url);
    expect(chartTable(await ana.get('/overview'), 'conversations')!.Opened).toEqual([
      0, 0, 0, 0, 1, 0, 0,
    ]);
    expect(await totals(ana, 'conversations', '?range=24h')).toEqual({});
    expect(await totals(ana, 'conversations', '?range=30d')).toEqual({ Opened: 1, Closed: 0 });
    now += 20 * DAY;
    ana = await signedInBrowser(service.url);
    expect(await totals(ana, 'conversations', '?range=7d')).toEqual({});
    expect(await totals(ana, 'conversations', '?range=90d')).toEqual({ Opened: 1, Closed: 0 });
  });

  it('shows that the keyword agent answered, and why it handed over', async () => {
    await service.api.patch('/api/agent', { enabled: true });
    const { customer } = await write('Hello');
    await waitFor('the greeting', async () => (await customer.read()).length === 2);
    await customer.write('I want to talk to a person');
    await waitFor('the handover', async () => (await customer.read()).length === 4);
    const page = await ana.get('/overview');
    const answers = chartTable(page, 'answers')!;
    expect(answers['Keyword agent']!.at(-1)).toBe(1);
    // The service itself writes that somebody from the team will answer.
    expect(answers['Service notices']!.at(-1)).toBe(1);
    expect(barCounts(page, 'handovers')).toEqual({ 'The customer asked for a person': 1 });
    expect(figure(page, 'Handed over')).toBe('100 %');
  });

  it('counts as handed over what a member takes from the agent, but not what a member takes while the agent is off', async () => {
    const take = async (path: string) => {
      const id = path.split('/').at(-1)!;
      await ana.get(`/conversations/${id}`);
      await ana.post(`/conversations/${id}/take-over`);
    };
    await take((await write()).path);
    expect(figure(await ana.get('/overview'), 'Handed over')).toBe('0 %');
    await service.api.patch('/api/agent', { enabled: true });
    await take((await write()).path);
    expect(figure(await ana.get('/overview'), 'Handed over')).toBe('50 %');
  });

  it('counts as handed over what the agent hands over after a member answered while it was off', async () => {
    const { customer, path } = await write();
    const thread = path.replace('/api', '');
    await ana.get(thread);
    await ana.post(`${thread}/reply`, { text: 'Hi!' });
    await service.api.patch('/api/agent', { enabled: true });
    await ana.post(`${thread}/hand-back`);
    await customer.write('I want to talk to a person');
    await waitFor('the handover', async () => (await customer.read()).length === 4);
    const page = await ana.get('/overview');
    expect(barCounts(page, 'handovers')).toEqual({ 'The customer asked for a person': 1 });
    expect(figure(page, 'Handed over')).toBe('100 %');
    expect(page.text).toContain(
      '1 of the 1 conversations opened in this time (100 %) left the agent',
    );
  });

  it('shows a workspace only what is its own', async () => {
    const stranger = await service.addWorkspace('Another');
    expect((await stranger.get('/api/conversations')).status).toBe(200);
    const customer = await chatCustomer(service.url, { workspace: 'another' });
    await customer.write('Hello');
    ana = await signedInBrowser(service.url);
    expect(await totals(ana, 'conversations')).toEqual({});
  });
});
