import type { SignedIn } from '../../team/index.ts';
import type { Subscription } from '../subscription.ts';
import { csrfField } from '../../platform/html/components.ts';
import { formProblems, newForm } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { subscriptionFields, valuesOf, type SubscriptionForm } from './subscriptionFields.ts';

/** Changes a subscription; its secret stays. Folded until it is needed. */
export const editForm = (
  signedIn: SignedIn,
  subscription: Subscription,
  refused: SubscriptionForm | undefined,
): View => html`
  <details id="edit" open=${refused !== undefined}>
    <summary class="open-form">Edit</summary>
    ${refused ? formProblems(refused) : null}
    <form method="post" action=${`/keys/subscriptions/${subscription.id}/edit`} class="narrow-form">
      ${csrfField(signedIn)}
      ${subscriptionFields(refused ?? newForm(valuesOf(subscription)))}
      <button>Save</button>
    </form>
  </details>
`;
