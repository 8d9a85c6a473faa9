import { describe, expect, it } from '@jest/globals';
import { useService, type Rest } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';

const { resource } = useService();
const agent = async (operation: string, parameters: Rest['parameters'] = {}) =>
  (await resource('agent')(operation, { parameters })).items[0]!;

describe('the agent', () => {
  it('is read, turned on and turned off', async () => {
    const read = async () => (await agent('get')).enabled;
    expect(await read()).toBe(false);
    expect(await agent('turnOn')).toMatchObject({ enabled: true });
    expect(await read()).toBe(true);
    expect(await agent('turnOff')).toMatchObject({ enabled: false });
    expect(await read()).toBe(false);
  });

  it('is updated field by field, and stays on or off', async () => {
    await agent('update', { updateFields: { name: 'Ana', languages: ['pt', 'en'] } });
    const updated = await agent('update', {
      updateFields: {
        greeting: 'Hello!',
        instructions: 'We sell bicycles.',
        paymentLinks: 'off',
        useWebhook: true,
        handoverPhrases: 'talk to sales\n\n  call me  \n',
      },
    });
    expect(updated).toMatchObject({
      name: 'Ana',
      greeting: 'Hello!',
      instructions: 'We sell bicycles.',
      languages: ['pt', 'en'],
      payment_links: 'off',
      handover_phrases: ['talk to sales', 'call me'],
      decided_by: 'webhook',
      enabled: false,
    });
    const handoverPhrases = '={{ ["call me", "a person"] }}';
    expect(await agent('update', { updateFields: { handoverPhrases } })).toMatchObject({
      handover_phrases: ['call me', 'a person'],
    });
  });

  it('says when there is nothing to update', async () => {
    const failure = await failureOf(agent('update'));
    expect(failure.message).toBe('There is nothing to update');
  });
});
