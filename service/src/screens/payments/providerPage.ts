import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { PaymentAccount } from '../../domain/payment.ts';
import type { SetupField } from '../../domain/accountSetup.ts';
import { paymentWebhookUrl } from '../../domain/webhookAddress.ts';
import type { PaymentAdapter, RemoteProvider } from '../../payments/paymentAdapter.ts';
import { connectionWords } from '../channels/channelState.ts';
import { whyUnreachable } from '../channels/reachability.ts';
import { setupInputs, shownSetup } from '../channels/setupForm.ts';
import { formProblem, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { checkbox } from '../tools/inputs.ts';
import { accountBadge } from './providerState.ts';

export interface ProviderPage {
  readonly adapter: PaymentAdapter;
  /** Null: not set up. */
  readonly account: PaymentAccount | null;
  /** The service's address as others see it. */
  readonly publicUrl: string;
  readonly now: Date;
  readonly notice?: unknown;
  /** What stands in the form, when it is not what is stored. */
  readonly values?: FormValues;
  readonly problems?: Problems;
}

/** One provider: whether it works, how it reaches us, what is filled in. */
export function providerPage(signedIn: SignedIn, page: ProviderPage): View {
  const { adapter, account, publicUrl, notice } = page;
  return teamPage(
    signedIn,
    { title: adapter.label, section: 'payments', notice },
    html`
      <p class="back"><a href="/payments">All payments</a></p>
      <h1>${adapter.label} ${accountBadge(account, adapter.isRemote)}</h1>
      ${adapter.isRemote ? addressWarning(publicUrl, adapter.label) : null}
      ${adapter.isRemote && account !== null ? testSection(signedIn, adapter, account, page.now) : null}
      ${adapter.isRemote && account !== null ? webhookSection(adapter, account, publicUrl) : null}
      ${formSection(signedIn, page)}
      ${account === null ? null : removeSection(signedIn, adapter)}
    `,
  );
}

/** What a provider's webhook and the customer who comes back need. */
function addressWarning(publicUrl: string, label: string): View {
  const why = whyUnreachable(publicUrl);
  if (why === null) return null;
  return html`<p class="problem" role="note"><strong>${label} cannot reach this service:</strong> ${why} Set <code>PUBLIC_URL</code> to its public <code>https://</code> address and start it again. Until then payments are seen a little later, by asking ${label}, and customers elsewhere cannot open the links.</p>`;
}

const testSection = (
  signedIn: SignedIn,
  { provider, label }: PaymentAdapter,
  account: PaymentAccount,
  now: Date,
): View => html`
  <section id="test" aria-labelledby="test-title">
    <h2 id="test-title">Keys</h2>
    ${connectionWords(account, label, now)}
    <form method="post" action=${`/payments/providers/${provider}/test`} hx-disabled-elt="find button">${csrfField(signedIn)}<button class="fit">Test keys</button></form>
  </section>
`;

const webhookSection = (
  { label, setupSteps = [] }: RemoteProvider,
  account: PaymentAccount,
  publicUrl: string,
): View => html`
  <section aria-labelledby="webhook-title">
    <h2 id="webhook-title">Webhook</h2>
    <p>With it, ${label} says at once when something is paid.</p>
    <p class="row"><code id="webhook-address" class="address">${paymentWebhookUrl(publicUrl, account)}</code> <button class="small" type="button" data-copy="#webhook-address" aria-label="Copy the webhook address">Copy</button></p>
    ${setupSteps.length === 0 ? null : html`<ol>${setupSteps.map((step) => html`<li>${step}</li>`)}</ol>`}
  </section>
`;

/** Beside an optional secret that is stored: a box that takes it away. */
export const removeBox = (name: string): string => `remove_${name}`;

export const removableSecrets = (
  fields: readonly SetupField[],
  account: PaymentAccount | null,
): readonly SetupField[] =>
  fields.filter(
    ({ kind, isRequired, name }) =>
      kind === 'secret' && !isRequired && account !== null && name in account.sealedSecrets,
  );

function formSection(
  signedIn: SignedIn,
  { adapter, account, values, problems = {} }: ProviderPage,
): View {
  const { provider, fields, isRemote } = adapter;
  const filledIn = values ?? shownSetup(account?.settings ?? {}, {});
  return html`
    <section aria-labelledby="values-title">
      <h2 id="values-title">What is filled in</h2>
      ${isRemote && account === null ? html`<p>Save the secret key first. Then the webhook address to give to ${adapter.label} stands here.</p>` : null}
      ${formProblem(Object.keys(problems).length > 0 ? 'Nothing was changed. Correct what is marked below, and fill changed secrets in again: they are not sent back.' : undefined)}
      <form method="post" action=${`/payments/providers/${provider}`}>
        ${csrfField(signedIn)}
        ${setupInputs(fields, { values: filledIn, problems, secretsSet: account === null ? null : Object.keys(account.sealedSecrets) })}
        ${removableSecrets(fields, account).map(({ name, label }) => checkbox({ name: removeBox(name), label: `Remove what is kept as “${label}”`, values: filledIn }))}
        <button class="fit">${account === null ? 'Set up' : 'Save'}</button>
      </form>
    </section>
  `;
}

/** Asks in the page itself, so that it asks without scripts too. */
const removeSection = (
  signedIn: SignedIn,
  { provider, label, isRemote }: PaymentAdapter,
): View => html`
  <section aria-label="Remove">
    <details id="remove">
      <summary class="keys-open">Remove…</summary>
      <form method="post" action=${`/payments/providers/${provider}/remove`}>
        ${csrfField(signedIn)}
        <p>Remove ${label}? No more links can be made with it. ${isRemote ? `Its keys are deleted here. Links that are open stay payable at ${label} but are not followed any more: cancel them first.` : 'Links that are open stay, without the instructions, and can still be marked as paid.'}</p>
        <button class="fit secondary">Yes, remove ${label}</button>
      </form>
    </details>
  </section>
`;
