import { describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { failureOf } from '../helpers/n8n.ts';
import { freeAddress } from '../helpers/strangers.ts';
import { EVENTS, stored, textOf, triggerScene } from '../helpers/triggerScene.ts';
import type { Side } from '../helpers/webhookHost.ts';

const scene = triggerScene();
const { activated, eventsAt, hooks, hooksAt, send, subscribe, trigger } = scene;

/** An owner in another n8n. */
const ELSEWHERE = {
  instance_id: 'another',
  workflow_id: 'workflow-1',
  workflow_name: 'Answer customers',
  node_id: 'node-1',
  host: 'n8n.example.com',
};

describe('What is subscribed', () => {
  it('is one subscription for all events, with the owner; id and secret are in the static data', async () => {
    const side = await activated(undefined, { workflowId: 'workflow-a', nodeId: 'node-a' });
    const [hook, ...rest] = await hooksAt(side);
    expect(rest).toEqual([]);
    expect(hook).toMatchObject({
      events: EVENTS,
      source: 'n8n',
      filter: { received_as: ['message'] },
      catch_up: true,
      owner: {
        instance_id: expect.stringMatching(/./),
        workflow_id: 'workflow-a',
        workflow_name: expect.stringMatching(/./),
        node_id: 'node-a',
        host: new URL(scene.host.url).host,
      },
    });
    expect(stored(side)).toMatchObject({
      id: hook!.id,
      revision: 1,
      secret: expect.stringMatching(/^whsec_/),
    });
  });

  it('has the filters of the trigger', async () => {
    const side = await activated({
      events: ['message.received'],
      filters: {
        channels: ['web_chat'],
        conversationIds: 'conv_1, conv_2 ,',
        funnelStages: ['qualified'],
        statuses: ['ai_active', 'awaiting_human'],
      },
      options: { catchUp: false },
    });
    expect(await hooksAt(side)).toMatchObject([
      {
        catch_up: false,
        filter: {
          channels: ['web_chat'],
          conversation_ids: ['conv_1', 'conv_2'],
          funnel_stages: ['qualified'],
          statuses: ['ai_active', 'awaiting_human'],
          received_as: ['message'],
        },
      },
    ]);
  });

  it.each<[string, string[], boolean, object | null]>([
    ['not by default', ['message.received'], false, { received_as: ['message'] }],
    ['with the option', ['message.received'], true, null],
    [
      'no filter is needed to leave them out without message.received',
      ['conversation.opened'],
      false,
      null,
    ],
  ])(
    'includes the answers to waiting workflows: %s',
    async (_when, events, includeAnswers, filter) => {
      const side = await activated({ events, options: { includeAnswers } });
      expect((await hooksAt(side)).map((hook) => hook.filter)).toEqual([filter]);
    },
  );

  it.each<[string, string[] | undefined, string[]]>([
    ['nothing is chosen', undefined, ['customer', 'agent', 'team_member']],
    ['the choice is empty', [], ['customer', 'agent', 'team_member']],
    ['one is chosen', ['api'], ['customer', 'api']],
  ])('filters by sender when %s', async (_what, sentBy, senders) => {
    const events = ['message.received', 'message.sent'];
    const side = await activated({ events, ...(sentBy ? { sentBy } : {}) });
    expect(await hooksAt(side)).toMatchObject([{ filter: { senders } }]);
  });

  it('has an event once when it is chosen twice', async () => {
    const side = await activated({ events: ['payment.paid', 'payment.paid'] });
    expect(await eventsAt(side)).toEqual([['payment.paid']]);
  });

  it('is nothing when no event is chosen: the error asks for one', async () => {
    expect(await failureOf(trigger({ events: [] }).production.activate())).toMatchObject({
      name: 'NodeOperationError',
      message:
        'No event is chosen. Choose at least one event that starts this workflow, then publish again.',
    });
  });
});

describe('Publishing again', () => {
  it('finds its subscription and leaves it alone', async () => {
    const side = await activated();
    const before = stored(side);
    scene.wire.seen.length = 0;
    expect(await side.checkExists()).toBe(true);
    expect(stored(side)).toEqual(before);
    expect(scene.wire.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each<[string, (side: Side) => unknown]>([
    [
      'the subscription was deleted at the service',
      (side) => scene.service.api.delete(`/api/hooks/${stored(side)!.id}`),
    ],
    ['the static data was lost', (side) => (side.staticData = {})],
    ['the static data belongs to another subscription', (side) => (stored(side)!.id = 'sub_other')],
    [
      'the subscription was made again, with another secret',
      async (side) => {
        const copy = structuredClone(side.staticData);
        await side.delete();
        await side.create();
        side.staticData = copy;
      },
    ],
  ])('repairs the subscription when %s', async (_what, damage) => {
    const side = await activated();
    await damage(side);
    await side.activate();
    const [hook, ...rest] = await hooksAt(side);
    expect(rest).toEqual([]);
    expect(stored(side)).toMatchObject({ id: hook!.id, revision: hook!.revision });
    expect((await send(side)).status).toBe(200);
  });

  it('follows a changed trigger under the same id, and the former secret is refused', async () => {
    const changed = trigger();
    const side = changed.production;
    await side.activate();
    const { id, secret } = stored(side)!;
    changed.parameters = { events: ['message.sent', 'message.received'] };
    await side.activate();
    expect(await eventsAt(side)).toEqual([['message.sent', 'message.received']]);
    expect(stored(side)).toMatchObject({ id, revision: 2 });
    expect((await send(side, { secret })).status).toBe(401);
    changed.parameters = { events: ['message.received'], filters: { channels: ['web_chat'] } };
    await side.activate();
    expect(await hooksAt(side)).toMatchObject([
      {
        id,
        events: ['message.received'],
        filter: { channels: ['web_chat'], received_as: ['message'] },
      },
    ]);
    expect(side.executions).toEqual([]);
  });

  it('removes orphans of its own address, and no other subscription', async () => {
    const { production: side } = trigger();
    await subscribe(side.url);
    await subscribe(side.url, { event: 'payment.paid' });
    const foreign = await subscribe(`${side.url}/other`);
    await side.activate();
    expect(await eventsAt(side)).toEqual([EVENTS]);
    expect((await hooks()).map(({ id }) => id)).toContain(foreign.id);
  });

  it('replaces a subscription that appears between looking and creating (subscription_exists)', async () => {
    const { production: side } = trigger({ events: ['message.received'] });
    let orphan: string | undefined;
    scene.wire.before = async (method) => {
      if (method === 'POST') orphan ??= (await subscribe(side.url)).id;
    };
    await side.activate();
    const [only, ...rest] = await hooksAt(side);
    expect(rest).toEqual([]);
    expect(orphan).toBeDefined();
    expect(stored(side)).toMatchObject({ id: only!.id, revision: only!.revision });
    expect((await send(side)).status).toBe(200);
  });

  it('with the credential of another service subscribes there, and refuses the old secret', async () => {
    const other = await scene.startOtherService();
    const side = await activated();
    const old = stored(side)!.secret;
    await side.delete();
    scene.credential = { baseUrl: other.url, apiKey: other.apiKey };
    await side.activate();
    expect(await hooksAt(side)).toEqual([]);
    expect((await other.api.get('/api/hooks')).body.data).toHaveLength(1);
    expect((await send(side, { secret: old })).status).toBe(401);
    expect((await send(side)).status).toBe(200);
  });
});

describe('What another n8n has published', () => {
  const addressElsewhere = (side: Side) =>
    side.url.replace(new URL(side.url).origin, 'https://127.0.0.1:9');

  it('cannot be published here too: the error names the holder; with "Take Over", it is taken over', async () => {
    const copy = trigger();
    const side = copy.production;
    const { id } = await subscribe(addressElsewhere(side), { events: EVENTS, owner: ELSEWHERE });
    const { message } = await failureOf(side.activate());
    expect(message).toMatch(
      /"Answer customers" of the n8n at n8n\.example\.com.*"Take Over From Another n8n".*publish again\.$/,
    );
    expect(message).not.toMatch(/target_url|take_over/);
    expect(await hooksAt(side)).toEqual([]);
    expect((await hooks()).map((each) => each.id)).toEqual([id]);

    copy.parameters = { events: EVENTS, options: { takeOver: true } };
    await side.activate();
    expect(await hooks()).toMatchObject([{ id, target_url: side.url }]);
    expect((await send(side)).status).toBe(200);
  });

  it('stays when a workflow here, whose static data was cloned from there, is unpublished', async () => {
    const side = await activated();
    const { id, revision, secret } = await subscribe(addressElsewhere(trigger().production), {
      owner: ELSEWHERE,
    });
    Object.assign(stored(side)!, { id, revision, secret });
    await side.deactivate();
    expect((await hooks()).map((each) => each.id)).toEqual([id]);
  });

  it('does not stand in the way of a test', async () => {
    const { test } = trigger();
    await subscribe(addressElsewhere(test), { owner: ELSEWHERE });
    await test.activate();
    expect(await eventsAt(test)).toEqual([EVENTS]);
  });
});

describe('When publishing fails', () => {
  it('at an event that the service does not know, nothing is left behind', async () => {
    const { production: side } = trigger({ events: ['message.received', 'no.such_event'] });
    expect(await failureOf(side.activate())).toMatchObject({
      name: 'NodeApiError',
      httpCode: '400',
      message: expect.stringMatching(/no\.such_event.*update the service/),
    });
    expect(await hooksAt(side)).toEqual([]);
    expect(stored(side)).toBeUndefined();
  });

  it('at a filter that the service refuses, the message names the field and where to correct it', async () => {
    const refused = trigger({ events: ['message.received'], filters: { statuses: ['waiting'] } });
    expect((await failureOf(refused.production.activate())).message).toMatch(
      /^The filter "Statuses" .* Correct it in this node, then publish again\.$/,
    );
    expect((await failureOf(refused.test.activate())).message).toMatch(
      /Correct it in this node, then execute the step again\.$/,
    );
  });

  it('at the 26th subscription, the error says which workflows hold them and what to do', async () => {
    for (let i = 0; i < 25; i += 1)
      await subscribe(`${scene.host.url}/full/${i}`, {
        owner: { ...ELSEWHERE, workflow_id: `w${i}`, workflow_name: `Workflow ${i}` },
      });
    const { production: side } = trigger();
    expect(await failureOf(side.activate())).toMatchObject({
      httpCode: '409',
      message: expect.stringMatching(
        /this one has 25: [^ ]+: ("Workflow \d+"(, )?){5} and 20 more\. Unpublish a workflow, or delete a subscription, that you no longer use\. Subscription → Get Many shows all of them\. Then publish again\.$/,
      ),
    });
    expect(await hooksAt(side)).toEqual([]);
  });

  it('at a local n8n, the message says how to allow it at the service', async () => {
    const strict = await scene.startOtherService({ env: { ALLOWED_NETWORKS: '' } });
    scene.credential = { baseUrl: strict.url, apiKey: strict.apiKey };
    const closed = trigger({ events: ['message.sent'] });
    const { message } = await failureOf(closed.production.activate());
    expect(message).toBe(
      `Conversation Service may not call n8n at ${scene.host.url} yet. Choose where n8n runs under Settings of the service (${strict.url}/settings), or set N8N_URL of the service. Then publish again.`,
    );
    expect((await failureOf(closed.test.activate())).message).toMatch(
      /Then execute the step again\.$/,
    );
  });

  it.each([
    [
      'http://n8n.example.com',
      "n8n's webhook address http://n8n.example.com must begin with https. Set WEBHOOK_URL of n8n to its https address, restart n8n, then publish again.",
    ],
    [
      'http://192.168.0.7:5678',
      expect.stringMatching(
        /^Conversation Service may not call n8n at http:\/\/192\.168\.0\.7:5678 yet\. Choose where n8n runs/,
      ),
    ],
    [
      'https://n8n.invalid',
      "Conversation Service does not find n8n.invalid, the host of n8n's webhook address. Set WEBHOOK_URL of n8n to an address that the service can find, restart n8n, then publish again.",
    ],
  ])('at the webhook address %s, the message says what to set', async (url, message) => {
    const { production: side } = trigger({ events: ['message.received'] }, { url });
    expect((await failureOf(side.activate())).message).toEqual(message);
  });

  it('because the service is away, the message says what to check', async () => {
    scene.credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    const error = await failureOf(trigger().production.activate());
    expect(error.message).toMatch(/^Nothing answers at .* Check the base URL in the credential/);
  });
});

describe('Unpublishing', () => {
  it('removes the subscription, by id and by address, and forgets the secret', async () => {
    const side = await activated();
    await subscribe(side.url, { event: 'message.sent' });
    expect(await side.deactivate()).toBe(true);
    expect(await hooksAt(side)).toEqual([]);
    expect(stored(side)).toBeUndefined();
  });

  it('removes by address when the id is lost', async () => {
    const side = await activated();
    side.staticData = {};
    expect(await side.deactivate()).toBe(true);
    expect(await hooksAt(side)).toEqual([]);
  });

  it('succeeds when the subscription is gone already, and when it is called again', async () => {
    const side = await activated();
    expect(await side.delete()).toBe(true);
    expect(await side.delete()).toBe(true);
  });

  it('never throws: the next activation removes what is left', async () => {
    const side = await activated();
    scene.credential = { baseUrl: await freeAddress(), apiKey: scene.service.apiKey };
    expect(await side.deactivate()).toBe(false);
    expect(stored(side)).toBeUndefined();
    expect(await hooksAt(side)).toHaveLength(1);
    scene.credential = { baseUrl: scene.service.url, apiKey: scene.service.apiKey };
    await side.activate();
    expect(await hooksAt(side)).toHaveLength(1);
    expect((await send(side)).status).toBe(200);
  });

  it('spares a subscription that was made again before a late delete arrives', async () => {
    const side = await activated({ events: ['message.received'] });
    const { id } = stored(side)!;
    scene.wire.before = async (method) => {
      if (method !== 'DELETE') return;
      scene.wire.before = undefined;
      await side.delete();
      await side.create();
    };
    await side.deactivate();
    expect(await hooksAt(side)).toEqual([expect.objectContaining({ id, revision: 2 })]);
  });

  it('keeps events for a minute: publishing after that starts with new events', async () => {
    let skewMs = 0;
    const clock = { now: () => new Date(Date.now() + skewMs) };
    const service = await scene.startOtherService({ clock });
    scene.credential = { baseUrl: service.url, apiKey: service.apiKey };
    const side = await activated({ events: ['message.received'] });
    const customer = await chatCustomer(service.url);
    await side.deactivate();
    await customer.write('in between');
    skewMs = 61_000;
    await side.activate();
    await customer.write('after');
    await waitFor('the event', () => side.executions.length > 0);
    expect(side.executions.map(textOf)).toEqual(['after']);
  });

  it('and publishing again within the minute brings what happened in between, once', async () => {
    const side = await activated({ events: ['message.received'] });
    const customer = await chatCustomer(scene.service.url);
    await customer.write('before');
    await waitFor('the first event', () => side.executions.length === 1);
    await side.deactivate();
    await customer.write('between 1');
    await customer.write('between 2');
    await side.activate();
    await customer.write('after');
    await waitFor('all four', () => side.executions.length === 4);
    const texts = ['after', 'before', 'between 1', 'between 2'];
    expect(side.executions.map(textOf).sort()).toEqual(texts);
  });
});
