import { Router, type Response } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { portOnThisMachine } from '../n8nAddress.ts';
import type { SignedIn } from '../operations/sessions.ts';
import type { N8nSetting, N8nSettingState } from '../n8nSetting.ts';
import { csrfField } from '../../platform/html/components.ts';
import { sendErrorPage } from '../../platform/html/errorPage.ts';
import { formProblems, newForm, readForm, type FormState } from '../../platform/html/forms.ts';
import { html, sendPage, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { n8nFields, n8nFormValues, readN8nChoice } from './n8nFields.ts';
import { signedInOf } from '../signedIn.ts';
import { timeView } from '../../platform/html/times.ts';

/** The settings of the service itself. They hold for every workspace; its owner changes them. */
export function settingsRouter({ clock }: Pick<Deps, 'clock'>, n8n: N8nSetting): Router {
  const router = Router();
  const show = async (response: Response, extras: { notice?: unknown; form?: FormState }) => {
    const signedIn = signedInOf(response);
    const { fromEnvironment } = n8n;
    const state = { ...(await n8n.read()), fromEnvironment, now: clock.now() };
    sendPage(response, settingsPage(signedIn, { ...state, ...extras }));
  };

  router.get('/settings', ({ query }, response) => show(response, { notice: query.notice }));

  router.post('/settings/n8n', async (request, response) => {
    const { member } = signedInOf(response);
    const { owner } = await n8n.read();
    // Checked before the address is looked up, and again when it is stored.
    if (n8n.fromEnvironment !== null || owner?.id !== member.id) return refuse(response);
    const values = readForm(request);
    const choice = await readN8nChoice(n8n, values);
    if (!choice.ok)
      return show(response.status(400), { form: { values, problems: choice.problems } });
    if (!(await n8n.change(member, choice.data))) return refuse(response);
    response.redirect(303, '/settings?notice=saved');
  });

  // A page that answered a POST has the form's address. Opening it leads back to the screen.
  router.get('/settings/n8n', (_request, response) => response.redirect(303, '/settings'));

  return router;
}

const refuse = (response: Response) =>
  sendErrorPage(
    response,
    403,
    'Only the owner of this service can change where n8n runs, and not while N8N_URL is set. Nothing was changed.',
  );

interface SettingsPage extends N8nSettingState {
  readonly fromEnvironment: string | null;
  readonly now: Date;
  readonly notice?: unknown;
  readonly form?: FormState;
}

const settingsPage = (signedIn: SignedIn, page: SettingsPage): View =>
  teamPage(
    signedIn,
    { title: 'Settings', section: 'settings', notice: page.notice },
    html`
      <h1>Settings</h1>
      <section class="block" aria-labelledby="n8n-title">
        <h2 id="n8n-title">Where n8n runs</h2>
        <p class="muted">
          The service sends events and tool calls to public https:// addresses. An n8n on this
          machine or in a private network has to be opened here. This holds for every workspace.
        </p>
        ${n8nSection(signedIn, page)}
      </section>
      <section class="block" aria-labelledby="canned-title">
        <h2 id="canned-title">Canned replies</h2>
        <p class="muted">Texts that your team sends often, filled in for each customer.</p>
        <p><a href="/settings/canned-replies">Canned replies</a></p>
      </section>
    `,
  );

function n8nSection(signedIn: SignedIn, page: SettingsPage): View {
  const { chosen, owner, fromEnvironment, form } = page;
  if (owner === null)
    return html`<p>
      The member who set up this service has left the team. To change where n8n runs, set
      <code>N8N_URL</code> in the environment of the service and restart it.
    </p>`;
  // The address may belong to the operator's network, so other workspaces do not see it.
  if (owner.workspaceId !== signedIn.workspace.id)
    return html`<p>Only the owner of this service can see and change it.</p>`;
  if (fromEnvironment !== null)
    return html`
      <p>${placeInWords(fromEnvironment)}</p>
      <p>
        The environment decides: <code>N8N_URL</code> is set. To change it, set another value and
        restart the service. To decide here, remove the variable and restart the service.
      </p>
    `;
  if (owner.id !== signedIn.member.id)
    return html`
      ${chosenView(page)}
      <p>Only ${owner.name}, who set up this service, can change it.</p>
    `;
  return html`
    ${chosenView(page)}
    <form method="post" action="/settings/n8n" class="narrow-form">
      ${formProblems(form ?? newForm())}
      ${csrfField(signedIn)}
      ${n8nFields(form ?? newForm(n8nFormValues(chosen?.origin)))}
      <button>Save</button>
    </form>
  `;
}

const chosenView = ({ chosen, now }: SettingsPage): View =>
  chosen === null
    ? html`<p>Nobody has chosen yet. Only public https:// addresses are called.</p>`
    : html`
        <p>
          ${placeInWords(chosen.origin)} <span class="muted">
            Chosen by ${chosen.changedBy}, ${timeView(chosen.changedAt, now)}.
          </span>
        </p>
      `;

function placeInWords(origin: string | null): string {
  if (origin === null) return 'At a public https:// address.';
  const port = portOnThisMachine(origin);
  return port === null ? `At ${origin}.` : `On this machine, at port ${port}.`;
}
