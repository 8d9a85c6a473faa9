// Who may see what of a wait: nobody sees the execution's address, and only the wait's own key sees
// the answer unmasked.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { apiClient, type ApiClient } from '../../helpers/apiClient.ts';
import { SIGNATURE } from '../../helpers/restingExecution.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import {
  askCustomer,
  askNewCustomer,
  askTeam,
  decide,
  goesOn,
  startTalk,
  startWaitStage,
  waitOf,
  type WaitStage,
} from './support.ts';

const EMAIL = 'maria.perez@example.com';
const PHONE = '5491155550134';
const MASKED_PHONE = '+54•••••••••34';

describe('a wait', () => {
  const logged: string[] = [];
  let stage: WaitStage;
  let otherKey: ApiClient;

  beforeAll(async () => {
    stage = await startWaitStage({
      env: { ...MEMBER_ENV, AGENT_QUIET_MS: '0' },
      log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
    });
    const member = await signedInBrowser(stage.url);
    const made = await member.post('/keys', { name: 'other' });
    otherKey = apiClient(stage.url, /cs_live_[0-9A-Za-z]{32}/.exec(made.html)![0]);
  });
  afterAll(() => stage?.close());

  it('shows an e-mail that it asked for to its own key, and masked to every other', async () => {
    const accept = { type: 'email' };
    const { talk, execution, wait } = await askNewCustomer(stage, { accept });
    await talk.customer.write(`It is ${EMAIL}`);
    expect((await goesOn(execution)).answer).toMatchObject({
      value: EMAIL,
      text: `It is ${EMAIL}`,
    });
    const masked = 'm••••••••@e••••••.com';
    for (const path of [`/api/waits/${wait.id}`, '/api/waits?limit=1']) {
      const { body } = await otherKey.get(path);
      const { answer } = body.data?.[0] ?? body;
      expect(answer).toMatchObject({ value: masked, text: `It is ${masked}` });
      expect(answer.messages[0].text).toBe(`It is ${masked}`);
      expect(JSON.stringify(body)).not.toContain(EMAIL);
    }
    const { body } = await otherKey.post(`/api/waits/${wait.id}/collect`);
    expect(body.answer.value).toBe(masked);
  });

  it("masks the contact's e-mail in question, details and note for other keys", async () => {
    const talk = await startTalk(stage, { email: EMAIL });
    const wait = await askTeam(stage, stage.n8n.execution(), {
      conversation_id: talk.conversationId,
      message: `Write to ${EMAIL}?`,
      details: { to: EMAIL },
    });
    await decide(stage, wait, { approved: true, note: `${EMAIL} ok` });
    expect(JSON.stringify(await waitOf(stage, wait))).toContain(EMAIL);
    expect(JSON.stringify((await otherKey.get(`/api/waits/${wait.id}`)).body)).not.toContain(EMAIL);
  });

  it("masks the contact's phone in choices, and an answer that is that number, for other keys", async () => {
    const talk = await startTalk(stage, { phone: `+${PHONE}` });
    const call = `Call +${PHONE}`;
    const wait = await askCustomer(stage, talk, stage.n8n.execution(), {
      accept: { type: 'choice', choices: [call, 'Write to me'] },
    });
    const choice = (await otherKey.get(`/api/waits/${wait.id}`)).body;
    expect(choice.accept.choices).toEqual([`Call ${MASKED_PHONE}`, 'Write to me']);
    await stage.api.post(`/api/waits/${wait.id}/cancel`);

    const execution = stage.n8n.execution();
    const number = await askCustomer(stage, talk, execution, { accept: { type: 'number' } });
    await talk.customer.write(PHONE);
    expect((await goesOn(execution)).answer.value).toBe(Number(PHONE));
    const { answer } = (await otherKey.get(`/api/waits/${number.id}`)).body;
    expect(answer).toMatchObject({ text: MASKED_PHONE, value: MASKED_PHONE });
  });

  it("masks the contact's e-mail in the labels of a decision for other keys", async () => {
    const talk = await startTalk(stage, { email: EMAIL });
    const wait = await askTeam(stage, stage.n8n.execution(), {
      conversation_id: talk.conversationId,
      approve_label: `Write to ${EMAIL}`,
      reject_label: `Block ${EMAIL}`,
    });
    const { body } = await otherKey.get(`/api/waits/${wait.id}`);
    expect(JSON.stringify(body)).not.toContain(EMAIL);
  });

  it('never shows the address at which its execution goes on', async () => {
    const execution = stage.n8n.execution();
    execution.answer(500);
    const wait = await askTeam(stage, execution);
    await decide(stage, wait);
    await goesOn(execution);
    const shown = JSON.stringify(await waitOf(stage, wait));
    expect(shown).toContain(`"host":"${new URL(execution.url).host}"`);
    expect(shown).not.toContain(SIGNATURE);
    expect(await stage.service.stored()).not.toContain(SIGNATURE);
    expect(logged.join('')).toContain('an execution was called to go on');
    expect(logged.join('')).not.toContain(SIGNATURE);
  });

  it("shows nothing of the address when n8n's answer repeats it, in any spelling", async () => {
    const execution = stage.n8n.execution('/webhook/t0ken.t0ken.t0ken.t0ken', 'ab%2Bcd%2fef');
    const repeated = [
      execution.url,
      '?signature=ab%2Bcd%2fef',
      'ab%2bcd%2Fef',
      'ab+cd/ef',
      '/t0ken.t0ken.t0ken.t0ken',
    ];
    execution.answer({ status: 409, message: `No: ${repeated.join(' and ')}` });
    const wait = await askTeam(stage, execution);
    await decide(stage, wait);
    await goesOn(execution);
    const { resume } = await waitOf(stage, wait);
    const said = JSON.stringify(resume) + logged.join('');
    expect(resume.attempts[0].problem).toMatch(/It says: No: .*… and …/);
    expect(said).not.toMatch(/ab%2bcd|ab\+cd|t0ken/i);
  });
});
