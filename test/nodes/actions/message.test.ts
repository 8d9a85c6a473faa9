import { describe, expect, it } from '@jest/globals';
import { byId, timeBetween, type Rest, useService } from '../helpers/actions.ts';

const { open, resource } = useService();
const message = resource('message');
const conversation = resource('conversation');

describe('Message', () => {
  it('gets those of a conversation, oldest first, up to a limit or all', async () => {
    const { id, customer } = await open('one');
    await customer.write('two');
    await conversation('sendMessage', { parameters: { ...byId(id), text: 'three' } });
    const input = [{ conversation: { id } }];
    const texts = async (parameters: Rest['parameters']) =>
      (await message('getAll', { parameters, input })).items.map(({ text }) => text);
    expect(await texts({ returnAll: true })).toEqual(['one', 'two', 'three']);
    expect(await texts({ limit: 2 })).toEqual(['one', 'two']);
  });

  it('gets those since a time', async () => {
    const { id, customer } = await open('one');
    const since = await timeBetween();
    await customer.write('two');
    const { items } = await message('getAll', { parameters: { ...byId(id), filters: { since } } });
    expect(items.map(({ text }) => text)).toEqual(['two']);
  });
});
