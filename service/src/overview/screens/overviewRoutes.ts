import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { findActiveSubscriptions } from '../../deliveries/index.ts';
import { sendPage } from '../../platform/html/html.ts';
import { signedInOf } from '../../team/index.ts';
import { DEFAULT_RANGE, RANGES } from '../range.ts';
import { readCounts } from '../readCounts.ts';
import { overviewPage } from './overviewPage.ts';

/** `/overview`: what happened in the workspace. */
export function overviewRouter(deps: Pick<Deps, 'store' | 'clock'>): Router {
  const router = Router();
  router.get('/overview', async ({ query }, response) => {
    const signedIn = signedInOf(response);
    const range = RANGES.find(({ id }) => id === query.range) ?? DEFAULT_RANGE;
    const counts = await readCounts(deps, signedIn.workspace, range);
    const subscriptions = await deps.store.transaction((tx) =>
      findActiveSubscriptions(tx, signedIn.workspace.id),
    );
    const channels = [...counts.total.each('opened').keys()].sort();
    const channel = channels.find((each) => each === query.channel) ?? null;
    sendPage(response, overviewPage(signedIn, { counts, range, channel, channels, subscriptions }));
  });
  return router;
}
