// Requests that wait for a payment's page: they share one reader, and each workspace has a maximum.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../../service/src/payments/payment.ts';
import {
  MAX_WAITING_PAYMENTS,
  followPayments,
  type FollowPayment,
} from '../../../service/src/payments/followPayments.ts';
import { followDocuments } from '../../../service/src/platform/http/followDocuments.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';

const LONG_MS = 600_000;

const payment = (workspaceId: string, status: Payment['status']) =>
  ({ id: `pay_${workspaceId}`, workspaceId, status, createdAt: '' }) as Payment;

describe('requests that wait for payment pages', () => {
  let stopping: AbortController;
  let fresh: FreshStore;
  let readers = 0;
  let reached: string[] = [];
  let follow: FollowPayment;
  const put = (each: Payment) => fresh.store.transaction((tx) => tx.payments.put(each));
  const wait = (workspaceId: string, timeoutMs = LONG_MS) =>
    follow({ id: workspaceId }, `pay_${workspaceId}`, timeoutMs);

  beforeEach(async () => {
    stopping = new AbortController();
    fresh = await openFreshStore();
    [readers, reached] = [0, []];
    const counted = new Proxy(fresh.store, {
      get(store, name) {
        if (name === 'changes') readers += 1;
        const value = Reflect.get(store, name, store) as unknown;
        return typeof value === 'function' ? value.bind(store) : value;
      },
    });
    follow = followPayments(followDocuments(counted, stopping.signal), {
      store: fresh.store,
      bounds: { reached: (bound) => void reached.push(bound) },
    });
    for (const workspaceId of ['mine', 'theirs']) await put(payment(workspaceId, 'creating'));
  });
  afterEach(async () => {
    stopping.abort();
    await fresh.remove();
  });

  it('are at most 256 a workspace and share one reader of changes; a further one is not refused, but answered at once', async () => {
    const MORE = 10;
    const statuses: string[] = [];
    const waiting = Array.from({ length: MAX_WAITING_PAYMENTS + MORE }, () =>
      wait('mine').then(({ status }) => statuses.push(status)),
    );
    await Promise.all(waiting.slice(MAX_WAITING_PAYMENTS));
    expect(statuses).toEqual(Array.from({ length: MORE }, () => 'creating'));
    expect(reached).toEqual(statuses.map(() => 'workspace_waiting_payments'));
    const theirs = wait('theirs');
    await put(payment('theirs', 'failed'));
    expect((await theirs).status).toBe('failed');
    expect(statuses).toHaveLength(MORE);
    await put(payment('mine', 'open'));
    await Promise.all(waiting);
    expect(statuses.filter((status) => status === 'open')).toHaveLength(MAX_WAITING_PAYMENTS);
    expect(readers).toBe(1);
    expect((await wait('mine')).status).toBe('open');
    expect(reached).toHaveLength(MORE);
  });

  it('end when their time is over, and when the process stops', async () => {
    expect((await wait('mine', 1)).status).toBe('creating');
    const waiting = wait('mine');
    stopping.abort();
    expect((await waiting).status).toBe('creating');
    await expect(follow({ id: 'mine' }, 'pay_none', LONG_MS)).rejects.toThrow('missing');
  });
});
