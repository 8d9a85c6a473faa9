import { describe, expect, it } from '@jest/globals';
import type { ChatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { waitScene } from '../helpers/waitScene.ts';

const scene = waitScene();
const DAY_MS = 24 * 3600 * 1000;
const untilRead = (customer: ChatCustomer, wanted: string) =>
  waitFor(wanted, async () => (await customer.read()).some(({ text }) => text === wanted));

describe('Conversation → Send and Wait for Reply', () => {
  it('sends, rests, and goes on with all messages that the customer writes in a row', async () => {
    const { id, customer } = await scene.open();
    const waiting = await scene.ask(id);
    expect(waiting.isWaiting()).toBe(true);
    expect((await customer.read()).at(-1)).toMatchObject({ text: 'What is your order number?' });
    scene.clock.advance(42_000);
    await customer.write('It is');
    await customer.write('A-1042');
    scene.clock.advance(10_000);
    expect(await waiting.output()).toEqual({
      answered: true,
      timed_out: false,
      status: 'answered',
      text: 'It is\nA-1042',
      value: 'It is\nA-1042',
      messages: [
        expect.objectContaining({ text: 'It is' }),
        expect.objectContaining({ text: 'A-1042' }),
      ],
      seconds_waited: 42,
      conversation_id: id,
      turn_id: null,
      wait_id: (await scene.newest()).id,
    });
    expect((await scene.newest()).resume.state).toBe('done');
  });

  it('takes a choice by its number, and gives the choice as the value', async () => {
    const { id, customer } = await scene.open();
    const waiting = await scene.ask(id, { accept: 'choice', choices: 'Monday\n\n Tuesday ' });
    await customer.write('2');
    scene.clock.advance(10_000);
    expect(await waiting.output()).toMatchObject({ text: '2', value: 'Tuesday' });
  });

  it('asks again in the words of the workflow, and gives up after the set number of attempts', async () => {
    const { id, customer } = await scene.open();
    const options = { retryText: 'Please send a number.', maxAttempts: 2 };
    const waiting = await scene.ask(id, { accept: 'number', options });
    await customer.write('Many');
    scene.clock.advance(10_000);
    await untilRead(customer, 'Please send a number.');
    await customer.write('Very many');
    scene.clock.advance(10_000);
    expect(await waiting.output()).toMatchObject({
      answered: false,
      timed_out: false,
      status: 'not_accepted',
      text: null,
      value: null,
      messages: [{ text: 'Very many' }],
    });
  });

  it('reminds the customer in the words of the workflow', async () => {
    const { id, customer } = await scene.open();
    // In floating point 4.1 * 60 is 245.99999999999997: the node has to round.
    const options = { remindAfterMinutes: 4.1, reminderText: 'Are you still there?' };
    const waiting = await scene.ask(id, { options });
    scene.clock.advance(5 * 60_000);
    await untilRead(customer, 'Are you still there?');
    await customer.write('Yes');
    scene.clock.advance(10_000);
    expect(await waiting.output()).toMatchObject({ answered: true, text: 'Yes' });
  });

  it('goes on without an answer when a person takes over', async () => {
    const { id } = await scene.open();
    const waiting = await scene.ask(id);
    await scene.service.api.post(`/api/conversations/${id}/takeover`, {});
    expect(await waiting.output()).toMatchObject({
      answered: false,
      status: 'taken_over',
      text: null,
    });
  });

  it('says that the time limit was reached, and has no text then', async () => {
    const { id } = await scene.open();
    const before = Date.now();
    const waiting = await scene.ask(id);
    expect(Date.parse((await scene.newest()).expires_at)).toBeGreaterThanOrEqual(before + DAY_MS);
    scene.clock.advance(DAY_MS + 1000);
    expect(await waiting.output()).toMatchObject({
      answered: false,
      timed_out: true,
      status: 'expired',
      text: null,
      value: null,
      messages: [],
    });
  });
});
