import type { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { parseForm, readForm } from '../../platform/html/forms.ts';
import { workspaceOf } from '../../team/index.ts';
import { releaseSubscription, updateSubscription } from '../operations/updateSubscription.ts';
import { subscriptionHref } from './deliveriesList.ts';
import { showSubscription } from './showSubscription.ts';
import {
  subscriptionInput,
  subscriptionProblems,
  subscriptionSchema,
} from './subscriptionFields.ts';

/** The forms that change a subscription: edit, pause, resume, release. */
export function addChanges(router: Router, deps: Deps): void {
  router.post('/keys/subscriptions/:id/edit', async (request, response) => {
    const { id } = request.params;
    const values = readForm(request);
    const form = parseForm(subscriptionSchema, values, subscriptionInput(values));
    if (!form.ok) return showSubscription(deps, response, id, 400, { editForm: form });
    try {
      const { target_url: targetUrl, events, filter, catchUp } = form.data;
      const changes = { targetUrl, events, filter, catchUp };
      await updateSubscription(deps, workspaceOf(response), id, changes);
      response.redirect(303, subscriptionHref(id, {}, { notice: 'saved' }));
    } catch (error) {
      const { status, ...refused } = subscriptionProblems(error);
      await showSubscription(deps, response, id, status, { editForm: { values, ...refused } });
    }
  });

  for (const verb of ['pause', 'resume'])
    router.post(`/keys/subscriptions/:id/${verb}`, async ({ params }, response) => {
      const id = String(params.id);
      await updateSubscription(deps, workspaceOf(response), id, { paused: verb === 'pause' });
      response.redirect(303, subscriptionHref(id, {}, { notice: 'saved' }));
    });

  router.post('/keys/subscriptions/:id/release', async ({ params: { id } }, response) => {
    await releaseSubscription(deps, workspaceOf(response), id);
    response.redirect(303, subscriptionHref(id, {}, { notice: 'released' }));
  });
}
