import { describe, expect, it } from '@jest/globals';
import { startTestService } from '../../helpers/service.ts';
import { useService } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';
import { builtFile } from '../helpers/builtFile.ts';

const { requestService } = builtFile<{
  requestService: (context: object, request: object) => Promise<unknown>;
}>('api/transport');

const { resource, wire } = useService();
const subscription = resource('subscription');

describe('A 429', () => {
  /** A call of which the first tries are refused, each with so many seconds to wait. */
  const getEvents = (...refusals: number[]) => {
    wire().refusals.push(...refusals);
    return subscription('getEvents');
  };

  it('makes the call again after the wait that its Retry-After asks for', async () => {
    const before = Date.now();
    expect((await getEvents(2, 0)).items.length).toBeGreaterThan(0);
    expect(Date.now() - before).toBeGreaterThanOrEqual(2900);
    expect(wire().seen).toHaveLength(3);
  });

  it('that asks for more than 60 seconds fails at once and says so', async () => {
    expect(await failureOf(getEvents(61))).toMatchObject({
      httpCode: '429',
      message: 'Too many calls.',
      description: expect.stringContaining('60 seconds'),
    });
    expect(wire().seen).toHaveLength(1);
  });

  it('fails when the waits would be longer than 60 seconds in all', async () => {
    expect(await failureOf(getEvents(1, 60))).toMatchObject({ httpCode: '429' });
    expect(wire().seen).toHaveLength(2);
  });

  it('is not tried again once the execution is cancelled', async () => {
    let calls = 0;
    const cancelled = AbortSignal.abort();
    const context = {
      getCredentials: async () => ({ baseUrl: 'http://localhost:1' }),
      getNode: () => ({ name: 'Test' }),
      getExecutionCancelSignal: () => cancelled,
      helpers: {
        httpRequestWithAuthentication: async () => {
          calls += 1;
          const error = { code: 'rate_limited', message: 'Too many calls.' };
          return { statusCode: 429, headers: { 'retry-after': '1' }, body: { error } };
        },
      },
    };
    const request = { method: 'POST', path: '/api/hooks' };
    expect(await failureOf(requestService(context, request))).toMatchObject({ httpCode: '429' });
    expect(calls).toBe(1);
  });

  it('of the real service says to wait 60 seconds at most', async () => {
    const limited = await startTestService({ env: { API_RATE_LIMIT_PER_MINUTE: '1' } });
    try {
      const { headers } = await limited.api.get('/api/hooks');
      expect(headers.get('retry-after')).toBeNull();
      const refused = await limited.api.get('/api/hooks');
      expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
      expect(refused.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    } finally {
      await limited.stop();
    }
  });
});
