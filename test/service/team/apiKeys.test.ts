import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operations } from '../../../service/src/app/api/apiOperations.ts';
import { systemClock } from '../../../service/src/platform/clock.ts';
import { AREA_PERMISSIONS, permissionFor, type ApiKey } from '../../../service/src/team/apiKey.ts';
import { createApiKey, listApiKeys } from '../../../service/src/team/operations/apiKeys.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { apiClient } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../helpers/browserless.ts';
import { openFreshStore } from '../../helpers/openStore.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOBODY = '00000000000000000000000000';

describe('API keys', () => {
  let service: TestService;
  let browser: Browserless;
  let aheadMs = 0;
  beforeAll(async () => {
    service = await startTestService({
      env: { ...MEMBER_ENV, TRUSTED_PROXIES: '127.0.0.1/32' },
      clock: { now: () => new Date(Date.now() + aheadMs) },
    });
    browser = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());

  const create = async (values: Record<string, string>) => {
    const { html } = await browser.post('/keys', values);
    return apiClient(service.url, /<code id="once">(cs_live_\w{32})</.exec(html)![1]!);
  };

  it('are refused once they have expired, with a message that says what to do, and work again when their end is moved', async () => {
    const api = await create({ name: 'for a week', expires: '7' });
    expect((await api.get('/api/hooks')).status).toBe(200);
    aheadMs = 7 * DAY_MS + 1000;
    const { status, headers, body } = await api.get('/api/hooks');
    expect([status, body.error.code]).toEqual([401, 'unauthorized']);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(body.error.message).toMatch(
      /^The API key "for a week" expired at \S+\+00:00\. Create another one on the Keys and subscriptions screen of the service\./,
    );
    browser = await signedInBrowser(service.url);
    const { html, text } = await browser.get('/keys');
    expect(text).toMatch(/Expired keys \(1\) for a week/);
    const [, id] = /(key_[0-9A-Z]{26})"><bdi>for a week/.exec(html)!;
    await browser.post(`/keys/${id}/edit`, { name: 'for a week', expires: '7' });
    expect((await api.get('/api/hooks')).status).toBe(200);
  });

  it('say from which address they were used last, as a trusted proxy reports it', async () => {
    const api = await create({ name: 'from afar' });
    await api.call('GET', '/api/hooks', undefined, { 'x-forwarded-for': '198.51.100.7' });
    await waitFor('its use to be noted', async () =>
      (await browser.get('/keys')).text.includes('last used now from 198.51.100.7'),
    );
  });

  it('may call exactly what they are limited to', async () => {
    const withKey = operations.filter(({ auth }) => auth === 'key');
    const missing = async (api: ReturnType<typeof apiClient>, path: string, method: string) => {
      const { status, body } = await api.call(method.toUpperCase(), path);
      return status === 403 && body.error.code === 'permission_missing';
    };
    for (const permission of AREA_PERMISSIONS) {
      const [area, level] = permission.split(':') as [string, string];
      const api = await create({
        name: permission,
        access: 'chosen',
        [`area_${area}`]: level,
      });
      for (const each of withKey) {
        const needed = permissionFor(each);
        const isAllowed = needed === null || needed === permission || needed === `${area}:read`;
        const path = `/api${each.path.replace(/:\w+/g, NOBODY)}`;
        expect([permission, each.id, await missing(api, path, each.method)]).toEqual([
          permission,
          each.id,
          !isAllowed,
        ]);
      }
    }
    const reading = withKey.filter((each) => permissionFor(each)?.endsWith(':read'));
    expect(reading.filter(({ method }) => method !== 'get').map(({ id }) => id)).toEqual([
      'lookupContact',
    ]);
  });
});

it('a new key is listed even after a thousand others were revoked', async () => {
  const { store, remove } = await openFreshStore();
  try {
    const deps = { store, clock: systemClock };
    const workspace = await createWorkspace(deps, 'Test');
    const revoked = { workspaceId: workspace.id, name: 'old', revokedAt: '2026-01-01' };
    await store.transaction(async (tx) => {
      for (let n = 0; n < 1000; n += 1)
        await tx.apiKeys.put({ id: `key_0${1000 + n}`, hash: `${n}`, ...revoked } as ApiKey);
    });
    const { apiKey } = await createApiKey(deps, workspace, { name: 'new', createdBy: 'Ana' });
    expect((await listApiKeys(deps, workspace)).at(-1)).toEqual(apiKey);
  } finally {
    await remove();
  }
});
