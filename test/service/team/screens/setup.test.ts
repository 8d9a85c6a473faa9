import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../../service/src/platform/clock.ts';
import { createMember, createWorkspace } from '../../../../service/src/team/operations/team.ts';
import { browserless } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

describe('the setup of a service whose second workspace has a member', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    await service.changeStored(async (store) => {
      const deps = { store, clock: systemClock };
      const workspace = await createWorkspace(deps, 'Second');
      const ana = { name: 'Ana', email: 'ana@example.com', passwordHash: 'x' };
      await createMember(deps, workspace, ana);
    });
  });
  afterAll(() => service?.stop());

  it('says that the e-mail is taken, and works with another one', async () => {
    const browser = browserless(service.url);
    const setUp = (email: string) =>
      browser.post('/setup', {
        token: new URL(service.setupUrl!).searchParams.get('token')!,
        name: 'Ana',
        email,
        password: 'correct horse battery',
      });
    const refused = await setUp('Ana@example.com');
    expect(refused.status).toBe(400);
    expect(refused.problem('email')).toMatch(/already a member with this e-mail/);
    expect(refused.value('name')).toBe('Ana');
    expect((await setUp('ana2@example.com')).status).toBe(201);
  });
});
