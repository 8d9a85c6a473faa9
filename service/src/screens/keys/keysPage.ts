import type { ApiKey } from '../../domain/apiKey.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { SubscriptionHealth } from '../../domain/operations/listSubscriptionHealth.ts';
import { field, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { apiKeysList } from './apiKeysList.ts';
import { liveArea, liveSection } from './live.ts';
import { newSubscriptionForm, type RefusedSubscription } from './newSubscription.ts';
import { subscriptionsList } from './subscriptionsList.ts';

/** What a page shows beside the lists. */
export interface KeysPageExtras {
  readonly notice?: unknown;
  /** A key or secret that was just made. */
  readonly once?: View;
  readonly keyForm?: { readonly values: FormValues; readonly problems: Problems };
  readonly subscriptionForm?: RefusedSubscription;
}

export interface KeysPageParts extends KeysPageExtras {
  readonly apiKeys: readonly ApiKey[];
  readonly subscriptions: readonly SubscriptionHealth[];
  readonly now: Date;
}

/** Keys above, subscriptions below. */
export const keysPage = (
  signedIn: SignedIn,
  { apiKeys, subscriptions, now, notice, once, keyForm, subscriptionForm }: KeysPageParts,
): View =>
  teamPage(
    signedIn,
    { title: 'API keys', section: 'keys', notice },
    liveArea(html`
      <h1>API keys and subscriptions</h1>
      ${once}
      ${subscriptionForm === undefined ? null : html`<p class="problem" role="alert">The subscription was not created. <a href="#new-subscription">See what is wrong with it.</a></p>`}
      <section class="keys-block" aria-labelledby="api-keys-title">
        <h2 id="api-keys-title">API keys</h2>
        <p class="muted">n8n and other programs use a key to call this service.</p>
        ${liveSection('api-keys', '/keys/live/api-keys', apiKeysList(signedIn, apiKeys, now))}
        ${newKeyForm(signedIn, keyForm)}
      </section>
      <section class="keys-block" aria-labelledby="subscriptions-title">
        <h2 id="subscriptions-title">Subscriptions</h2>
        <p class="muted">Each sends one event to one address, such as a workflow in n8n.</p>
        ${liveSection('subscriptions', '/keys/live/subscriptions', subscriptionsList(subscriptions, now))}
        ${newSubscriptionForm(signedIn, subscriptionForm ?? {})}
      </section>
    `),
  );

const newKeyForm = (
  signedIn: SignedIn,
  { values, problems }: { values?: FormValues; problems?: Problems } = {},
): View => html`
  <details id="new-key" open=${problems !== undefined}>
    <summary class="keys-open">Create an API key</summary>
    <form method="post" action="/keys" class="keys-fields">
      ${csrfField(signedIn)}
      ${field({ name: 'name', label: 'Name', values: values ?? {}, problems: problems ?? {}, help: 'Stands as the sender of what is written with it, such as n8n.', attributes: { required: true, maxlength: 100, autocomplete: 'off' } })}
      <button>Create the key</button>
    </form>
  </details>
`;
