// Two members answer the same customer within seconds.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { teamOfTwo } from '../../../helpers/teamOfTwo.ts';

describe('two answers at the same time', () => {
  let service: TestService;
  let ana: Browserless;
  let ben: Browserless;
  let now = Date.parse('2026-11-21T10:00:00Z');
  beforeAll(async () => {
    service = await startTestService({
      env: MEMBER_ENV,
      clock: { now: () => new Date(now) },
    });
    ({ ana, ben } = await teamOfTwo(service));
  });
  afterAll(() => service?.stop());

  const begin = async () => {
    const customer = await chatCustomer(service.url, { name: 'Maria' });
    const path = `/conversations/${(await customer.write('Hello?')).conversation_id}`;
    await Promise.all([ana.get(path), ben.get(path)]);
    const texts = async () => (await customer.read()).map(({ text }) => text);
    return { path, texts };
  };

  it('the second is told who was first, and keeps the text, which can then be sent', async () => {
    const { path, texts } = await begin();
    const pages = await Promise.all([
      ana.post(`${path}/reply`, { text: 'From ana.', seen: '1' }),
      ben.post(`${path}/reply`, { text: 'From Ben.', seen: '1' }),
    ]);
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const isAnaLate = pages[0].status === 409;
    const [first, late, browser] = isAnaLate ? ['Ben', 'ana', ana] : ['ana', 'Ben', ben];
    const page = pages[isAnaLate ? 0 : 1];
    expect(page.text).toContain(`${first} has just answered: see above. Your reply was not sent.`);
    expect(page.html).toContain(`>From ${late}.</textarea>`);
    expect(page.value('seen')).toBe('2');
    expect(await texts()).toEqual(['Hello?', `From ${first}.`]);
    const again = await browser.post(`${path}/reply`, { text: `From ${late}.`, seen: '2' });
    expect(again.path).toBe(path);
    expect(await texts()).toEqual(['Hello?', `From ${first}.`, `From ${late}.`]);
  });

  it('an answer of a while ago, one’s own, and one that was on the page hold nobody up', async () => {
    const { path, texts } = await begin();
    await ana.post(`${path}/reply`, { text: 'One.', seen: '1' });
    await ana.post(`${path}/reply`, { text: 'Two.', seen: '1' });
    now += 20_000;
    await ben.post(`${path}/reply`, { text: 'Three.', seen: '1' });
    await ana.post(`${path}/reply`, { text: 'Four.', seen: '4' });
    expect(await texts()).toEqual(['Hello?', 'One.', 'Two.', 'Three.', 'Four.']);
  });
});
