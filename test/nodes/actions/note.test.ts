import { describe, expect, it } from '@jest/globals';
import { byId, useService } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';

const { open, resource } = useService();
const note = resource('note');

describe('Note', () => {
  it('is for the team, and the customer does not see it', async () => {
    const { id, texts } = await open();
    const text = 'Has an open invoice';
    const { items } = await note('create', { parameters: { ...byId(id), text } });
    expect(items).toMatchObject([{ text }]);
    expect(await texts()).toEqual([]);
  });

  it('is written once for a deduplication key, whichever execution asks', async () => {
    const { id } = await open();
    const write = (executionId: string, deduplicationKey = '') =>
      note('create', {
        executionId,
        parameters: { ...byId(id), text: 'Call back', options: { deduplicationKey } },
      });
    const first = await write('1', 'evt_1');
    expect((await write('2', 'evt_1')).items).toEqual(first.items);
    expect((await write('3')).items).not.toEqual(first.items);
  });

  it('refuses an empty text before it calls', async () => {
    const error = await failureOf(note('create', { parameters: { ...byId('conv_1'), text: ' ' } }));
    expect(error.message).toBe('The text of the note is empty');
  });
});
