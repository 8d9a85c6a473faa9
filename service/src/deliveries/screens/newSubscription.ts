import type { SignedIn } from '../../team/index.ts';
import { csrfField } from '../../platform/html/components.ts';
import { field, formProblem } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { z } from 'zod';
import {
  subscriptionFields,
  subscriptionSchema,
  type SubscriptionForm,
} from './subscriptionFields.ts';

/** Checks the form. The result is what the operation takes. */
export const newSubscriptionSchema = subscriptionSchema
  .extend({
    source: z.string().trim().max(64, 'must have at most 64 characters').default(''),
  })
  .transform(({ target_url: targetUrl, events, filter, catchUp, source }) => ({
    targetUrl,
    events,
    filter,
    catchUp,
    source,
  }));

/** Creates a subscription by hand. Folded until it is needed. */
export const newSubscriptionForm = (signedIn: SignedIn, form: SubscriptionForm): View => html`
  <details id="new-subscription" open=${Object.keys(form.problems).length > 0}>
    <summary class="open-form">Create a subscription</summary>
    <p class="muted">
      n8n workflows subscribe by themselves when you publish them. Use this form for other receivers.
    </p>
    ${formProblem(form.problems[''])}
    <form method="post" action="/keys/subscriptions" class="narrow-form">
      ${csrfField(signedIn)}
      ${subscriptionFields(form)}
      ${field({
        name: 'source',
        label: 'Source (optional)',
        form,
        help: 'The name of the receiver, shown in the list.',
        attributes: { maxlength: 64, autocomplete: 'off' },
      })}
      <button>Create subscription</button>
    </form>
  </details>
`;
