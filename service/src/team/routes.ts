import { Router } from 'express';
import type { Deps } from '../platform/deps.ts';
import { newestFirst, pageFrom, pageJson } from '../platform/http/page.ts';
import { serve } from '../platform/http/serve.ts';
import * as contract from './contract.ts';

/** The team, for automations. */
export function membersRouter(deps: Deps): Router {
  const router = Router();
  serve(router, deps, contract.listMembers, async ({ deps, caller, query }) =>
    pageJson(
      await deps.store.transaction((tx) =>
        newestFirst(tx.members, { workspaceId: caller.workspace.id }, pageFrom(query)),
      ),
      ({ id, name, createdAt }) => ({ id, name, created_at: createdAt }),
    ),
  );
  return router;
}
