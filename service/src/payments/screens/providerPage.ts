import type { SignedIn } from '../../team/index.ts';
import { paymentWebhookUrl, type PaymentAccount } from '../payment.ts';
import type { SetupField } from '../../platform/accounts/accountSetup.ts';
import type { PaymentAdapter, RemoteProvider } from '../paymentAdapter.ts';
import {
  connectionBadge,
  lastTestView,
  reachabilityWarning,
  setupFormProblems,
  setupFormValues,
  setupInputs,
} from '../../platform/html/accountForm.ts';
import {
  backLink,
  badge,
  copyButton,
  csrfField,
  postButton,
} from '../../platform/html/components.ts';
import { checkbox, newForm, type FormState } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';

export interface ProviderPage {
  readonly adapter: PaymentAdapter;
  /** Null when it is not set up. */
  readonly account: PaymentAccount | null;
  readonly publicUrl: string;
  readonly now: Date;
  readonly notice?: unknown;
  /** A form that was refused. */
  readonly form?: FormState;
}

/** Whether a provider is set up and, if it has keys, whether they work. */
export function accountBadge(account: PaymentAccount | null, isRemote: boolean): View {
  if (account === null) return badge('not set up');
  return isRemote ? connectionBadge(account) : badge('set up', 'good');
}

/** One provider: whether its keys work, its webhook, and its settings. */
export function providerPage(signedIn: SignedIn, page: ProviderPage): View {
  const { adapter, account, publicUrl, notice } = page;
  const { label, isRemote } = adapter;
  return teamPage(
    signedIn,
    { title: label, section: 'payments', notice },
    html`
      ${backLink('/payments', 'Payments')}
      <h1>${label} ${accountBadge(account, isRemote)}</h1>
      ${
        isRemote
          ? reachabilityWarning(
              publicUrl,
              label,
              `Until then, payments show up a little later, and customers on other networks cannot open payment links.`,
            )
          : null
      }
      ${isRemote && account !== null ? keysSection(signedIn, adapter, account, page.now) : null}
      ${isRemote && account !== null ? webhookSection(adapter, account, publicUrl) : null}
      ${settingsSection(signedIn, page)}
      ${account === null ? null : removeSection(signedIn, adapter)}
    `,
  );
}

const keysSection = (
  signedIn: SignedIn,
  { provider, label }: PaymentAdapter,
  account: PaymentAccount,
  now: Date,
): View => html`
  <section id="test" aria-labelledby="test-title">
    <h2 id="test-title">Keys</h2>
    ${lastTestView(account, label, now)}
    ${postButton(signedIn, {
      action: `/payments/providers/${provider}/test`,
      label: 'Test keys',
      button: { class: 'fit' },
      form: { 'hx-disabled-elt': 'find button' },
    })}
  </section>
`;

const webhookSection = (
  { label, setupSteps }: RemoteProvider,
  account: PaymentAccount,
  publicUrl: string,
): View => html`
  <section aria-labelledby="webhook-title">
    <h2 id="webhook-title">Webhook</h2>
    <p>${label} uses it to report payments at once.</p>
    <p class="row">
      <code id="webhook-address">${paymentWebhookUrl(publicUrl, account)}</code>
      ${copyButton('webhook-address', 'the webhook URL')}
    </p>
    <ol>${setupSteps.map((step) => html`<li>${step}</li>`)}</ol>
  </section>
`;

/** The name of the checkbox that removes an optional secret. */
export const removalField = (secretName: string): string => `remove_${secretName}`;

/** The optional secrets that are saved. */
export const removableSecrets = (
  fields: readonly SetupField[],
  account: PaymentAccount | null,
): readonly SetupField[] =>
  fields.filter(
    ({ kind, isRequired, name }) =>
      kind === 'secret' && !isRequired && account !== null && name in account.sealedSecrets,
  );

function settingsSection(signedIn: SignedIn, { adapter, account, ...page }: ProviderPage): View {
  const { provider, fields, isRemote, label } = adapter;
  const form = page.form ?? newForm(setupFormValues(account?.settings ?? {}));
  return html`
    <section aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      ${
        isRemote && account === null
          ? html`
            <p>
              Save the secret key first. This page then shows the webhook URL to enter at ${label}.
            </p>
          `
          : null
      }
      ${setupFormProblems(form)}
      <form method="post" action=${`/payments/providers/${provider}`}>
        ${csrfField(signedIn)}
        ${setupInputs(fields, form, Object.keys(account?.sealedSecrets ?? {}))}
        ${removableSecrets(fields, account).map((secret) =>
          checkbox({
            name: removalField(secret.name),
            label: `Remove the saved ${secret.label}`,
            form,
          }),
        )}
        <button class="fit">${account === null ? 'Set up' : 'Save'}</button>
      </form>
    </section>
  `;
}

/** The confirmation is part of the page, so that it works without scripts. */
const removeSection = (
  signedIn: SignedIn,
  { provider, label, isRemote }: PaymentAdapter,
): View => html`
  <section aria-label="Remove">
    <details id="remove">
      <summary class="open-form">Remove…</summary>
      <form method="post" action=${`/payments/providers/${provider}/remove`}>
        ${csrfField(signedIn)}
        <p>
          Remove ${label}? You can no longer create payment links with it.
          ${
            isRemote
              ? `Its keys are deleted here. Cancel open links first: they can still be paid at ${label}, but this service will no longer see the payments.`
              : 'Open links stay, without the instructions, and can still be marked as paid.'
          }
        </p>
        <button class="fit danger">Yes, remove ${label}</button>
      </form>
    </details>
  </section>
`;
