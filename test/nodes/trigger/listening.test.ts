import { describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { listenToLog } from '../helpers/n8n.ts';
import { EVENTS, stored, textOf, triggerScene } from '../helpers/triggerScene.ts';

const log = listenToLog();
const scene = triggerScene();
const { eventsAt, hooksAt, send, trigger } = scene;

describe('Listening for a test event', () => {
  it('and the production subscription never touch each other', async () => {
    const both = trigger();
    await both.production.activate();
    const before = await hooksAt(both.production);
    await both.test.activate();
    expect(await eventsAt(both.test)).toEqual([EVENTS]);
    await both.test.deactivate();
    expect(await hooksAt(both.test)).toEqual([]);
    expect(await hooksAt(both.production)).toEqual(before);
    await both.test.activate();
    await both.production.deactivate();
    expect(await eventsAt(both.test)).toEqual([EVENTS]);
  });

  it('finds the subscription of an earlier test that was never stopped, although the static data is empty', async () => {
    const { test } = trigger();
    await test.activate();
    test.staticData = {};
    await test.activate();
    expect(await eventsAt(test)).toEqual([EVENTS]);
    expect((await send(test)).status).toBe(200);
  });

  it('gets the next event, not those since the last time', async () => {
    const { test: side } = trigger({ events: ['message.received'] });
    const customer = await chatCustomer(scene.service.url);
    await side.activate();
    await side.deactivate();
    await customer.write('while nobody listened');
    await side.activate();
    await customer.write('now');
    await waitFor('an event', () => side.executions.length > 0);
    expect(side.executions.map(textOf)).toEqual(['now']);
  });
});

describe('A sample while listening', () => {
  it('arrives verified, after registration, and passes the filters', async () => {
    const { test, production } = trigger({
      events: ['conversation.closed', 'message.sent'],
      options: { sendSample: true },
      filters: { channels: ['whatsapp_cloud'] },
    });
    await test.activate();
    expect(scene.wire.seen.filter(({ path }) => path.endsWith('/test'))).toEqual([]);
    await waitFor('the sample', () => test.executions.length > 0);
    expect(test.executions).toMatchObject([
      {
        event: 'conversation.closed',
        outcome: expect.anything(),
        delivery_id: expect.stringMatching(/^evt_/),
      },
    ]);
    expect(production.executions).toEqual([]);
    const deliveries = `/api/hooks/${stored(test)!.id}/deliveries`;
    const sent = await waitFor('the record of its delivery', async () =>
      (await scene.service.api.get(deliveries)).body.data.find(
        ({ status }: { status: string }) => status === 'delivered',
      ),
    );
    expect(sent.attempts).toHaveLength(1);
  });

  it('that comes too late, when listening has been stopped, is only a warning in the log', async () => {
    const { test } = trigger({ events: ['message.sent'], options: { sendSample: true } });
    await test.activate();
    await test.deactivate();
    await waitFor('the warning', () => log.warnings.length > 0);
    expect(log.warnings).toEqual([expect.stringMatching(/^No sample event was sent/)]);
    expect(log.errors).toEqual([]);
  });

  it('is sent neither in production nor without the option', async () => {
    const quiet = trigger({ events: ['message.sent'] });
    const asked = trigger({ events: ['message.sent'], options: { sendSample: true } });
    await quiet.test.activate();
    await asked.production.activate();
    await asked.test.activate();
    await waitFor('the sample of the one that asked', () => asked.test.executions.length > 0);
    expect(scene.wire.seen.filter(({ path }) => path.endsWith('/test'))).toHaveLength(1);
    expect([...quiet.test.executions, ...asked.production.executions]).toEqual([]);
  });
});
