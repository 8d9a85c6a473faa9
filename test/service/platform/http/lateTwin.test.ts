// A process stands still in the middle of a change, and its caller asks another process again.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Request } from 'express';
import type { Deps } from '../../../../service/src/platform/deps.ts';
import { answerOnce } from '../../../../service/src/platform/http/answerOnce.ts';
import { createWorkspace } from '../../../../service/src/team/operations/team.ts';
import * as contract from '../../../../service/src/tools/contract.ts';
import { createTool, updateTool } from '../../../../service/src/tools/operations/defineTool.ts';
import { getTool } from '../../../../service/src/tools/operations/tools.ts';
import { toolJson } from '../../../../service/src/tools/views.ts';
import { openFreshStore, type FreshStore } from '../../../helpers/openStore.ts';
import { testDeps } from '../../../helpers/testDeps.ts';

let fresh: FreshStore;
beforeEach(async () => {
  fresh = await openFreshStore();
});
afterEach(() => fresh.remove());

it('a call that stood still writes nothing over later changes once its twin has answered', async () => {
  const agent = { quietMs: 0, approvalExpiresMs: 60_000 };
  const deps = testDeps({ store: fresh.store, agent });
  const workspace = await createWorkspace(deps, 'Test');
  const wanted = {
    name: 'find_order',
    description: 'Finds an order',
    parameters: { type: 'object' },
    kind: 'Webhook',
    endpoint: 'https://tools.test/before',
    requestTemplate: null,
    timeoutSeconds: 10,
    askBeforeRunning: false,
  } as const;
  const { tool } = await createTool(deps, workspace, wanted, {});
  const moveTo = (within: Deps, path: string) =>
    updateTool(within, workspace, tool.id, { endpoint: `https://tools.test/${path}` }, {});
  const request = { get: () => 'k1', method: 'PATCH', originalUrl: '/', body: {} };
  const change = (checkTargetUrl: Deps['checkTargetUrl']) =>
    answerOnce(
      { ...deps, checkTargetUrl },
      contract.updateTool,
      request as unknown as Request,
      undefined,
      async (within) => ({
        status: 200,
        body: JSON.stringify(toolJson(await moveTo(within, 'first'))),
      }),
    );

  const checkBegun = Promise.withResolvers<undefined>();
  const checkMayEnd = Promise.withResolvers<undefined>();
  const late = change(async () => {
    checkBegun.resolve(undefined);
    await checkMayEnd.promise;
  });
  await checkBegun.promise;
  const first = await change(async () => {});
  await moveTo(deps, 'later');
  checkMayEnd.resolve(undefined);
  expect(await late).toEqual(first);
  const { endpoint } = await getTool(deps, workspace, tool.id);
  expect(endpoint).toBe('https://tools.test/later');
});
