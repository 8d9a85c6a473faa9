import { amountHint, isCurrency, parseAmount } from '../../domain/currency.ts';
import { AppError } from '../../domain/errorCatalogue.ts';
import type { WantedPayment } from '../../domain/operations/createPaymentLink.ts';
import { MAX_PAYMENT_DESCRIPTION_CHARACTERS, type PaymentProvider } from '../../domain/payment.ts';
import { textSchema } from '../../http/contract/shared.ts';
import type { FormValues, ParsedForm, Problems } from '../forms.ts';
import { expiriesOf, expiryField } from './paymentExpiry.ts';

/** What the form of a payment link says. @param providers those that are set up */
export function wantedFrom(
  values: FormValues,
  providers: readonly PaymentProvider[],
): ParsedForm<WantedPayment> {
  const problems: Record<string, string> = {};
  const currency = values.currency ?? '';
  if (!isCurrency(currency)) problems.currency = 'Choose a currency of the list.';
  const amount = parseAmount(values.amount ?? '', currency);
  if (amount === null && problems.currency === undefined)
    problems.amount = sentence(amountHint(currency));
  const description = textSchema(MAX_PAYMENT_DESCRIPTION_CHARACTERS).safeParse(
    (values.description ?? '').trim(),
  );
  if (!description.success) problems.description = sentence(description.error.issues[0]!.message);
  const provider = providers.find((each) => each === values.provider);
  if (provider === undefined)
    return { ok: false, values, problems: { ...problems, provider: 'Choose how it is paid.' } };
  const expiry = expiriesOf(provider).find(
    ({ seconds }) => String(seconds) === values[expiryField(provider)],
  );
  if (!expiry) problems[expiryField(provider)] = 'Choose how long it is open.';
  if (!description.success || !expiry || amount === null) return { ok: false, values, problems };
  return {
    ok: true,
    data: {
      amount,
      currency,
      description: description.data,
      provider,
      expiresInSeconds: expiry.seconds,
    },
  };
}

/**
 * What the operation or the provider does not take, beside its field; null when it is about
 * something else.
 */
export function refusedWanted(
  error: unknown,
  { provider }: Pick<WantedPayment, 'provider'>,
): Problems | null {
  if (!(error instanceof AppError) || error.code !== 'invalid_request') return null;
  const { param } = error.details;
  if (param === undefined) return null;
  const name = param === 'expires_in' ? expiryField(provider!) : param;
  return { [name]: sentence(error.message.slice(param.length + 1)) };
}

const sentence = (words: string) =>
  `${words[0]!.toUpperCase()}${words.slice(1).replace(/\.?$/, '.')}`;
