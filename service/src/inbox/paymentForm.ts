import { amountHint, CURRENCIES, isCurrency, parseAmount } from '../platform/currency.ts';
import { AppError } from '../platform/http/errorCatalogue.ts';
import {
  type WantedPayment,
  MAX_PAYMENT_DESCRIPTION_CHARACTERS,
  type PaymentProvider,
  paymentAdapterOf,
} from '../payments/index.ts';
import { textSchema } from '../platform/http/schemas.ts';
import { csrfField } from '../platform/html/components.ts';
import {
  checkbox,
  field,
  fieldProblem,
  formProblem,
  type FormState,
  type FormValues,
  type ParsedForm,
  type Problems,
  radio,
  select,
  sentence,
} from '../platform/html/forms.ts';
import { html, type View } from '../platform/html/html.ts';
import { providerLabel } from '../payments/screens/paymentView.ts';
import type { PaymentForm, ThreadParts } from './threadParts.ts';
import { threadHref } from './links.ts';

const HOUR_S = 60 * 60;
const DAY_S = 24 * HOUR_S;
/** How long a link stays open: the choices of the form. */
const EXPIRIES = [
  { seconds: HOUR_S, label: '1 hour' },
  { seconds: 6 * HOUR_S, label: '6 hours' },
  { seconds: 12 * HOUR_S, label: '12 hours' },
  { seconds: DAY_S, label: '24 hours' },
  { seconds: 3 * DAY_S, label: '3 days' },
  { seconds: 7 * DAY_S, label: '7 days' },
  { seconds: 14 * DAY_S, label: '14 days' },
  { seconds: 30 * DAY_S, label: '30 days' },
  { seconds: 90 * DAY_S, label: '90 days' },
  { seconds: 365 * DAY_S, label: '1 year' },
] as const;

/** The choices that a provider supports. */
function expiriesOf(provider: PaymentProvider) {
  const { min, max } = paymentAdapterOf(provider).expiresIn;
  return EXPIRIES.filter(({ seconds }) => seconds >= min && seconds <= max);
}

const expiryField = (provider: PaymentProvider): string => `expires_${provider}`;

/** @param form identifies the form, so that sending it twice creates one link */
export const newPaymentValues = (
  providers: readonly PaymentProvider[],
  { form, currency }: { form: string; currency: string },
): FormValues => ({
  form,
  currency,
  provider: providers[0] ?? '',
  ...Object.fromEntries(
    providers.map((provider) => [
      expiryField(provider),
      String(paymentAdapterOf(provider).expiresIn.default),
    ]),
  ),
  send: 'on',
});

/** Checks the form. @param providers that are set up */
export function parsePaymentForm(
  values: FormValues,
  providers: readonly PaymentProvider[],
): ParsedForm<WantedPayment> {
  const problems: Record<string, string> = {};
  const { currency = '', amount: amountText = '' } = values;
  if (!isCurrency(currency)) problems.currency = 'Choose a currency from the list.';
  const amount = parseAmount(amountText, currency);
  if (amount === null && problems.currency === undefined)
    problems.amount = sentence(amountHint(currency));
  const description = textSchema(MAX_PAYMENT_DESCRIPTION_CHARACTERS).safeParse(
    (values.description ?? '').trim(),
  );
  if (!description.success) problems.description = sentence(description.error.issues[0]!.message);
  const provider = providers.find((each) => each === values.provider);
  if (provider === undefined)
    return { ok: false, values, problems: { ...problems, provider: 'Choose a payment method.' } };
  const expiry = expiriesOf(provider).find(
    ({ seconds }) => String(seconds) === values[expiryField(provider)],
  );
  if (!expiry) problems[expiryField(provider)] = 'Choose when the link expires.';
  if (!description.success || !expiry || amount === null) return { ok: false, values, problems };
  const expiresInSeconds = expiry.seconds;
  const data = { amount, currency, description: description.data, provider, expiresInSeconds };
  return { ok: true, data };
}

/** An error of the operation or the provider, as the problem of a field; null for other errors. */
export function paymentProblems(
  error: unknown,
  { provider }: Pick<WantedPayment, 'provider'>,
): Problems | null {
  if (!(error instanceof AppError) || error.code !== 'invalid_request') return null;
  const { param } = error.details;
  if (param === undefined) return null;
  const name = param === 'expires_in' ? expiryField(provider!) : param;
  // The message begins with the parameter's name.
  return { [name]: sentence(error.message.slice(param.length + 1)) };
}

export const paymentForm = ({ signedIn, thread, place }: ThreadParts, form: PaymentForm): View => {
  const { id } = thread.conversation;
  return html`
    <div class="composer paying">
      <h3 id="payment-title">New payment link</h3>
      ${formProblem(form.problems[''])}
      ${
        form.providers.length === 0
          ? html`
            <p>
              No payment provider is set up yet. <a href="/payments">
                Set one up under Payments
              </a>: bank transfer with your own instructions, or Stripe.
            </p>
            <p>
              <a role="button" class="secondary outline small" href=${threadHref(id, place)}>
                Back
              </a>
            </p>
          `
          : html`
            <form
              method="post"
              action=${threadHref(id, place, {}, '/payment-link')}
              hx-sync="this:drop"
              hx-disabled-elt="find button"
              hx-disinherit="hx-disabled-elt"
              aria-labelledby="payment-title"
            >
              ${csrfField(signedIn)}
              <input type="hidden" name="form" value=${form.values.form} />
              <div class="fields">${paymentFields(form)}</div>
              ${checkbox({
                name: 'send',
                label: 'Send the link to the customer now, as your message',
                form,
              })}
              <div class="row">
                <button>Create link</button>
                <a role="button" class="secondary outline" href=${threadHref(id, place)}>Back</a>
              </div>
            </form>
          `
      }
    </div>
  `;
};

const paymentFields = (form: PaymentForm): View => html`
  <div>${field({
    name: 'amount',
    label: 'Amount',
    form,
    help: 'For example 49 or 49.90, without thousands separators.',
    attributes: { required: true, inputmode: 'decimal', maxlength: 20, autocomplete: 'off' },
  })}</div>
  <div>${select({
    name: 'currency',
    label: 'Currency',
    form,
    options: CURRENCY_OPTIONS,
    attributes: { required: true },
  })}</div>
  <div class="wide">${field({
    name: 'description',
    label: 'Description',
    form,
    attributes: {
      required: true,
      maxlength: MAX_PAYMENT_DESCRIPTION_CHARACTERS,
      autocomplete: 'off',
      dir: 'auto',
    },
  })}</div>
  ${providerFields(form)}
`;

const COMMON_CURRENCIES = 'usd eur gbp brl mxn ars cop clp pen cad aud chf jpy inr'.split(' ');
const CURRENCY_NAMES = new Intl.DisplayNames('en', { type: 'currency' });
const currencyOption = (code: string) =>
  [code, `${code.toUpperCase()} – ${CURRENCY_NAMES.of(code.toUpperCase())}`] as const;
const CURRENCY_OPTIONS = [
  ['', 'Choose a currency'] as const,
  { group: 'Common', options: COMMON_CURRENCIES.map(currencyOption) },
  {
    group: 'All others',
    options: CURRENCIES.filter((code) => !COMMON_CURRENCIES.includes(code)).map(currencyOption),
  },
];

/** Each provider with its own expiry. The page shows only the expiry of the chosen provider. */
function providerFields(form: PaymentForm): View {
  const { providers } = form;
  if (providers.length === 1)
    return html`
      <div>
        <input type="hidden" name="provider" value=${providers[0]} />
        ${expirySelect(providers[0]!, 'Expires after', form)}
      </div>
    `;
  return html`
    <fieldset class="wide providers">
      <legend>Payment method</legend>
      ${providers.map(
        (provider) => html`
          <div class="provider">
            ${radio({ name: 'provider', value: provider, label: providerLabel(provider), form })}
            <div class="expiry">
              ${expirySelect(provider, `Expires after, with ${providerLabel(provider)}`, form)}
            </div>
          </div>
        `,
      )}
      ${fieldProblem('provider', form)}
    </fieldset>
  `;
}

const expirySelect = (provider: PaymentProvider, label: string, form: FormState): View =>
  select({
    name: expiryField(provider),
    label,
    form,
    options: expiriesOf(provider).map(
      ({ seconds, label: words }) => [String(seconds), words] as const,
    ),
  });
