import type { Response, Router } from 'express';
import type { Deps } from '../../../platform/deps.ts';
import { readForm, type FormState } from '../../../platform/html/forms.ts';
import { html, sendPage, type View } from '../../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../../team/index.ts';
import { recoverDeliveries } from '../../operations/deliveries.ts';
import { getSubscriptionHealth } from '../../operations/subscriptions.ts';
import { countUndelivered } from '../../operations/undelivered.ts';
import { recoverHref, subscriptionHref } from '../deliveriesList.ts';
import { parseSince, recoveryPage } from './recoveryPage.ts';

/** Sends failed deliveries of a subscription again. */
export function addRecovery(router: Router, deps: Deps): void {
  const path = '/keys/subscriptions/:id/recover';

  /** Without a form, counts everything that failed. */
  const show = async (response: Response, id: string, status: number, form?: FormState) => {
    const workspace = workspaceOf(response);
    const { subscription } = await getSubscriptionHealth(deps, workspace, id);
    const since = form === undefined ? null : parseSince(form.values);
    const undelivered = await countUndelivered(deps, workspace, id, since);
    const page = { subscription, undelivered, now: deps.clock.now(), form };
    sendPage(response, recoveryPage(signedInOf(response), page), status);
  };

  router.get(path, ({ params }, response) => show(response, params.id, 200));

  router.post(path, async (request, response) => {
    const { id } = request.params;
    const values = readForm(request);
    const since = parseSince(values);
    if (since === null) {
      const problems = { since: 'Enter a date and a time.' };
      return show(response, id, 400, { values, problems });
    }
    if (values.count !== undefined) return show(response, id, 200, { values, problems: {} });
    const workspace = workspaceOf(response);
    const { beforeCount } = await countUndelivered(deps, workspace, id, since);
    const recovered = await recoverDeliveries(deps, workspace, id, since);
    const done = { recovered: String(recovered), left: String(beforeCount) };
    response.redirect(303, subscriptionHref(id, {}, done));
  });
}

const countFrom = (text: unknown): number | undefined =>
  typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

/** What was just sent again and what was not, from the address of the page. */
export function recoveredView(id: string, query: Readonly<Record<string, unknown>>): View {
  const count = countFrom(query.recovered);
  if (count === undefined) return null;
  const left = countFrom(query.left) ?? 0;
  const sent =
    count === 0
      ? 'There are no failed deliveries since then.'
      : `${count} failed ${count === 1 ? 'delivery is' : 'deliveries are'} being sent again.`;
  return html`
    ${sent}
    ${left === 0 ? ' Nothing is left to resend.' : notResentView(id, left)}
  `;
}

const notResentView = (id: string, left: number): View =>
  html` ${left} that failed before then ${left === 1 ? 'was' : 'were'} not resent. <a href=${recoverHref(id)}>
    Resend ${left === 1 ? 'it' : 'them'} too
  </a>`;
