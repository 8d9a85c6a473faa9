import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { findActiveSubscriptions } from '../../deliveries/index.ts';
import { onceForForm } from '../../platform/html/formOnce.ts';
import { readForm } from '../../platform/html/forms.ts';
import { sendPage } from '../../platform/html/html.ts';
import { readerZone } from '../../platform/html/readerZone.ts';
import { newFormToken } from '../../platform/security/tokens.ts';
import { endFirstHour, signedInOf, workspaceOf } from '../../team/index.ts';
import { readFirstHour, sendTestMessage } from '../firstHour.ts';
import { DEFAULT_RANGE, RANGES } from '../range.ts';
import { readCounts } from '../readCounts.ts';
import { overviewPage } from './overviewPage.ts';

/** `/overview`: what happened in the workspace. */
export function overviewRouter(deps: Deps): Router {
  const router = Router();
  router.get('/overview', async ({ query }, response) => {
    const signedIn = signedInOf(response);
    const range = RANGES.find(({ id }) => id === query.range) ?? DEFAULT_RANGE;
    const timeZone = readerZone();
    const counts = await readCounts(deps, signedIn.workspace, range, timeZone);
    const subscriptions = await deps.store.transaction((tx) =>
      findActiveSubscriptions(tx, signedIn.workspace.id),
    );
    const channels = [...counts.total.each('opened').keys()].sort();
    const channel = channels.find((each) => each === query.channel) ?? null;
    const firstHour = await readFirstHour(deps, signedIn.workspace);
    const page = {
      counts,
      range,
      timeZone,
      channel,
      channels,
      subscriptions,
      firstHour,
      notice: query.notice,
    };
    sendPage(response, overviewPage(signedIn, page));
  });

  router.post('/overview/test-message', async (request, response) => {
    const workspace = workspaceOf(response);
    const { form = newFormToken() } = readForm(request);
    const conversationId = await onceForForm(
      deps,
      workspace,
      ['test-message', form],
      async (within) => (await sendTestMessage(within, workspace)).conversationId,
    );
    response.redirect(303, `/conversations/${conversationId}?notice=test-message`);
  });

  router.post('/overview/first-steps/dismiss', async (_request, response) => {
    await endFirstHour(deps, workspaceOf(response));
    response.redirect(303, '/overview?notice=first-steps-dismissed');
  });

  return router;
}
