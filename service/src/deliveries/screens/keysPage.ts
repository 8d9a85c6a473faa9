import { memberNote, type ApiKey, type SignedIn } from '../../team/index.ts';
import type { DailyCounts } from '../../overview/index.ts';
import type { SubscriptionHealth } from '../operations/subscriptions.ts';
import { type FormState, newForm } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import { apiKeysList } from './keys/apiKeysList.ts';
import { newKeyForm } from './keys/keyForm.ts';
import { deliverySearch } from './delivery/search.ts';
import { newSubscriptionForm } from './newSubscription.ts';
import type { SubscriptionForm } from './subscriptionFields.ts';
import { subscriptionsList } from './subscriptionState.ts';

/** What the page shows besides the lists. */
export interface KeysPageExtras {
  readonly notice?: unknown;
  /** A key or secret that was just created. */
  readonly shownOnce?: View;
  readonly keyForm?: FormState;
  readonly subscriptionForm?: SubscriptionForm;
}

interface KeysPage extends KeysPageExtras {
  readonly apiKeys: readonly ApiKey[];
  readonly subscriptions: readonly SubscriptionHealth[];
  readonly week: DailyCounts;
  readonly now: Date;
}

/** API keys above, subscriptions below. */
export const keysPage = (
  signedIn: SignedIn,
  { apiKeys, subscriptions, week, now, notice, shownOnce, keyForm, subscriptionForm }: KeysPage,
): View =>
  teamPage(
    signedIn,
    { title: 'Keys and subscriptions', section: 'keys', notice },
    html`
      <h1>Keys and subscriptions</h1>
      ${shownOnce}
      ${
        subscriptionForm === undefined
          ? null
          : html`
              <p class="problem" role="alert">
                The subscription was not created. <a href="#new-subscription">
                  See what to correct
                </a>
              </p>
            `
      }
      <section class="block" aria-labelledby="api-keys-title">
        <h2 id="api-keys-title">API keys</h2>
        <p class="muted">n8n and other programs use a key to call this service. New to this? Start with an <a href="/examples">example workflow for n8n</a>.</p>
        ${liveSection(
          'keys',
          'api-keys',
          '/keys/live/api-keys',
          apiKeysList(signedIn, apiKeys, now),
        )}
        ${newKeyForm(signedIn, keyForm)}
        ${memberNote(signedIn, 'An owner can create, change and revoke API keys.')}
      </section>
      <section class="block" aria-labelledby="subscriptions-title">
        <h2 id="subscriptions-title">Subscriptions</h2>
        <p class="muted">A subscription sends events to one URL, such as an n8n workflow.</p>
        ${subscriptions.length === 0 ? null : deliverySearch()}
        ${liveSection(
          'keys',
          'subscriptions',
          '/keys/live/subscriptions',
          subscriptionsList(subscriptions, week, now),
        )}
        ${memberNote(signedIn, 'An owner can create, change and remove subscriptions.')}
        ${newSubscriptionForm(signedIn, subscriptionForm ?? newForm())}
      </section>
    `,
  );
