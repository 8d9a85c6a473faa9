import { CURRENCIES } from '../../domain/currency.ts';
import { MAX_PAYMENT_DESCRIPTION_CHARACTERS, type PaymentProvider } from '../../domain/payment.ts';
import { field, formProblem, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';
import { providerLabel } from '../payments/paymentLabels.ts';
import { checkbox } from '../tools/inputs.ts';
import type { ThreadParts } from './itemsView.ts';
import { defaultExpiryOf, expiriesOf, expiryField } from './paymentExpiry.ts';
import { threadHref } from './place.ts';

/** What the form of a payment link shows. */
export interface PaymentForm {
  /** Those that are set up, the preferred one first. */
  readonly providers: readonly PaymentProvider[];
  readonly values: FormValues;
  readonly problems?: Problems;
  readonly problem?: string | undefined;
}

/**
 * @param form names this form, so that sending it twice makes one link. @param currency the one to
 * begin with
 */
export const newPaymentValues = (
  providers: readonly PaymentProvider[],
  { form, currency }: { form: string; currency: string },
): FormValues => ({
  form,
  currency,
  provider: providers[0] ?? '',
  ...Object.fromEntries(
    providers.map((provider) => [expiryField(provider), String(defaultExpiryOf(provider))]),
  ),
  send: 'on',
});

/** Asks what is to be paid. */
export const paymentForm = (
  { signedIn, thread, place }: ThreadParts,
  { providers, values, problems = {}, problem }: PaymentForm,
): View => html`
  <div class="composer paying">
    <h3 id="payment-title">New payment link</h3>
    ${formProblem(problem)}
    ${
      providers.length === 0
        ? html`
          <p>No payment provider is set up yet, so there is no way to be paid. <a href="/payments">Set one up under Payments</a>: bank transfer with your own instructions, or Stripe.</p>
          <p><a role="button" class="secondary outline small" href=${threadHref(thread.conversation.id, place)}>Back</a></p>
        `
        : html`
          <form method="post" action=${threadHref(thread.conversation.id, place, {}, '/payment-link')} hx-sync="this:drop" hx-disabled-elt="find button" aria-labelledby="payment-title">
            ${csrfField(signedIn)}
            <input type="hidden" name="form" value=${values.form} />
            <div class="fields">
              <div>${field({ name: 'amount', label: 'Amount', values, problems, help: 'Such as 49 or 49.90, without separators between thousands.', attributes: { required: true, inputmode: 'decimal', maxlength: 20, autocomplete: 'off' } })}</div>
              <div>${currencySelect(values, problems)}</div>
              <div class="wide">${field({ name: 'description', label: 'What it is for', values, problems, attributes: { required: true, maxlength: MAX_PAYMENT_DESCRIPTION_CHARACTERS, autocomplete: 'off', dir: 'auto' } })}</div>
              ${providerFields(providers, values, problems)}
            </div>
            ${checkbox({ name: 'send', label: 'Send it to the customer now, as a message of yours', values })}
            <div class="row"><button>Create link</button><a role="button" class="secondary outline" href=${threadHref(thread.conversation.id, place)}>Back</a></div>
          </form>
        `
    }
  </div>
`;

/** What most people are paid in; all others follow. */
const COMMON: readonly string[] = [
  'usd',
  'eur',
  'gbp',
  'brl',
  'mxn',
  'ars',
  'cop',
  'clp',
  'pen',
  'cad',
  'aud',
  'chf',
  'jpy',
  'inr',
];
const REST = CURRENCIES.filter((code) => !COMMON.includes(code));
const NAMES = new Intl.DisplayNames('en', { type: 'currency' });

const currencySelect = (values: FormValues, problems: Problems): View => html`
  <label for="f-currency">Currency</label>
  <select id="f-currency" name="currency" required aria-invalid=${problems.currency === undefined ? null : 'true'} aria-describedby=${problems.currency === undefined ? null : 'p-currency'}>
    ${[
      ['Common', COMMON],
      ['All others', REST],
    ].map(
      ([label, codes]) =>
        html`<optgroup label=${label}>${(codes as readonly string[]).map((code) => html`<option value=${code} selected=${code === values.currency}>${code.toUpperCase()} – ${NAMES.of(code.toUpperCase())}</option>`)}</optgroup>`,
    )}
  </select>
  ${problems.currency === undefined ? null : html`<small id="p-currency" class="problem" role="alert">${problems.currency}</small>`}
`;

/**
 * Each provider with its own choice of how long; that of the one that is not chosen is not shown.
 */
const providerFields = (
  providers: readonly PaymentProvider[],
  values: FormValues,
  problems: Problems,
): View =>
  providers.length === 1
    ? html`<div><input type="hidden" name="provider" value=${providers[0]} />${expirySelect(providers[0]!, 'Open for', values, problems)}</div>`
    : html`
        <fieldset class="wide providers">
          <legend>How it is paid</legend>
          ${providers.map(
            (each) => html`
              <div class="provider">
                <label for=${`f-provider-${each}`}><input type="radio" id=${`f-provider-${each}`} name="provider" value=${each} checked=${values.provider === each} /> ${providerLabel(each)}</label>
                <div class="expiry">${expirySelect(each, `Open for, with ${providerLabel(each)}`, values, problems)}</div>
              </div>
            `,
          )}
          ${problems.provider === undefined ? null : html`<small id="p-provider" class="problem" role="alert">${problems.provider}</small>`}
        </fieldset>
      `;

function expirySelect(
  provider: PaymentProvider,
  label: string,
  values: FormValues,
  problems: Problems,
): View {
  const name = expiryField(provider);
  const problem = problems[name];
  return html`
    <label for=${`f-${name}`}>${label}</label>
    <select id=${`f-${name}`} name=${name} aria-invalid=${problem === undefined ? null : 'true'} aria-describedby=${problem === undefined ? null : `p-${name}`}>
      ${expiriesOf(provider).map(({ seconds, label: words }) => html`<option value=${seconds} selected=${String(seconds) === values[name]}>${words}</option>`)}
    </select>
    ${problem === undefined ? null : html`<small id=${`p-${name}`} class="problem" role="alert">${problem}</small>`}
  `;
}
