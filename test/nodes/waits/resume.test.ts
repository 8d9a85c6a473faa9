import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { byId } from '../helpers/actions.ts';
import { waitScene } from '../helpers/waitScene.ts';

const scene = waitScene();

describe('A question', () => {
  it('is asked once although the answer to the request was lost and the node tries again', async () => {
    let answered = 0;
    scene.wire.loses = (_method, path) => path === '/api/waits' && answered++ === 0;
    const { id } = await scene.open();
    await scene.host.wait({
      resource: 'approval',
      parameters: { ...byId(id), message: 'Once?' },
      node: { retryOnFail: true, maxTries: 2, waitBetweenTries: 10 },
    });
    expect(answered).toBe(2);
    const { body } = await scene.service.api.get(`/api/waits?conversation_id=${id}`);
    expect(body.data).toMatchObject([{ message: 'Once?', status: 'open' }]);
  });

  it('that is refused while another is open is asked by "Retry On Fail" once the other is over', async () => {
    const { id } = await scene.open();
    await scene.ask(id, { text: 'First?' });
    const first = await scene.newest();
    const second = scene.host.wait({
      resource: 'conversation',
      parameters: { ...byId(id), text: 'Second?' },
      node: { retryOnFail: true, maxTries: 5, waitBetweenTries: 500 },
    });
    await waitFor('the first refusal', () => scene.wire.seen.some(({ status }) => status === 409));
    await scene.service.api.post(`/api/waits/${first.id}/cancel`);
    await second;
    expect(await scene.newest()).toMatchObject({ message: 'Second?', status: 'open' });
  });
});

describe('A call of the address at which an execution goes on', () => {
  const refusedWith = (code: string) => ({
    status: 409,
    body: { resumed: false, error: { code } },
  });

  it('decides nothing, whatever it says', async () => {
    const waiting = await scene.askTeam();
    const { id } = await scene.newest();
    for (const body of [{}, { approved: true }, { data: { approved: true } }, 'wait', null])
      expect(await waiting.call(body)).toMatchObject(refusedWith('not_the_current_wait'));
    expect(await waiting.call({ wait_id: id, status: 'approved', approved: true })).toMatchObject(
      refusedWith('wait_not_ended'),
    );
    expect(waiting.isWaiting()).toBe(true);
    await scene.decide(false);
    expect(await waiting.output()).toMatchObject({ data: { approved: false, status: 'rejected' } });
  });

  it('lets it go on whatever the name of the node is', async () => {
    const waiting = await scene.host.wait({
      resource: 'approval',
      parameters: { message: 'Refund order A-1042?' },
      node: { name: 'Ask {{ "the" }} team\\' },
    });
    await scene.decide(true);
    expect(await waiting.output()).toMatchObject({ data: { approved: true } });
  });

  it('cannot bring the decision of another wait', async () => {
    const other = await scene.askTeam();
    const { id: approvedId } = await scene.newest();
    await scene.decide(true);
    await other.output();
    const waiting = await scene.askTeam();
    expect(await waiting.call({ wait_id: approvedId })).toMatchObject(
      refusedWith('not_the_current_wait'),
    );
    expect(waiting.isWaiting()).toBe(true);
  });

  it('comes again after the service could not be asked, and the execution rests until then', async () => {
    const waiting = await scene.askTeam();
    let refusals = 0;
    scene.wire.refuses = (_method, path) => {
      if (!path.endsWith('/collect') || refusals === 2) return undefined;
      refusals += 1;
      return 503;
    };
    await scene.decide(true);
    await waitFor('the first attempts', () => {
      scene.clock.advance(1000);
      return waiting.answers.length > 2;
    });
    expect(waiting.answers.slice(0, 2).map(({ status }) => status)).toEqual([503, 503]);
    expect(await waiting.output()).toMatchObject({ data: { approved: true } });
  });

  it('lets the execution go on once although the answer to collecting was lost', async () => {
    const waiting = await scene.askTeam();
    let answered = 0;
    scene.wire.loses = (_method, path) => path.endsWith('/collect') && answered++ === 0;
    await scene.decide(true);
    const { id } = await scene.newest();
    await waitFor('the lost answer', () => answered > 0);
    // The next call, of the service or of anybody else, brings the same.
    await waiting.call({ wait_id: id });
    expect(await waiting.output()).toMatchObject({ data: { approved: true }, wait_id: id });
    expect(await waiting.call({ wait_id: id })).toMatchObject({ status: 200 });
    expect(waiting.isWaiting()).toBe(false);
  });

  it('is for the newest wait of a node in a loop; a late call for an earlier wait is refused', async () => {
    const waiting = await scene.askTeam();
    const { id: first } = await scene.newest();
    await scene.decide(true);
    expect(await waiting.output()).toMatchObject({ data: { approved: true } });
    await waiting.again({ message: 'And order A-1043?' });
    const { id: second } = await scene.newest();
    expect(second).not.toBe(first);
    expect(await waiting.call({ wait_id: first })).toMatchObject({ status: 409 });
    expect(waiting.isWaiting()).toBe(true);
    await scene.decide(false);
    expect(await waiting.output()).toMatchObject({ data: { approved: false }, wait_id: second });
  });
});
