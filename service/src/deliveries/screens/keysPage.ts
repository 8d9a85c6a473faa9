import type { ApiKey, SignedIn } from '../../team/index.ts';
import type { SubscriptionHealth } from '../operations/subscriptions.ts';
import { badge, csrfField, postButton } from '../../platform/html/components.ts';
import { checkbox, field, type FormState, newForm } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveArea, liveSection } from '../../platform/html/liveSection.ts';
import { newSubscriptionForm } from './newSubscription.ts';
import type { SubscriptionForm } from './subscriptionFields.ts';
import { subscriptionsList } from './subscriptionState.ts';
import { timeView } from '../../platform/html/times.ts';

/** What the page shows besides the lists. */
export interface KeysPageExtras {
  readonly notice?: unknown;
  /** A key or secret that was just created. */
  readonly once?: View;
  readonly keyForm?: FormState;
  readonly subscriptionForm?: SubscriptionForm;
}

interface KeysPage extends KeysPageExtras {
  readonly apiKeys: readonly ApiKey[];
  readonly subscriptions: readonly SubscriptionHealth[];
  readonly now: Date;
}

/** API keys above, subscriptions below. */
export const keysPage = (
  signedIn: SignedIn,
  { apiKeys, subscriptions, now, notice, once, keyForm, subscriptionForm }: KeysPage,
): View =>
  teamPage(
    signedIn,
    { title: 'API keys', section: 'keys', notice, isLive: true },
    liveArea(html`
      <h1>API keys and subscriptions</h1>
      ${once}
      ${
        subscriptionForm === undefined
          ? null
          : html`<p class="problem" role="alert">The subscription was not created. <a href="#new-subscription">See what to correct</a></p>`
      }
      <section class="block" aria-labelledby="api-keys-title">
        <h2 id="api-keys-title">API keys</h2>
        <p class="muted">n8n and other programs use a key to call this service. New to this? Start with an <a href="/examples">example workflow for n8n</a>.</p>
        ${liveSection('keys', 'api-keys', '/keys/live/api-keys', apiKeysList(signedIn, apiKeys, now))}
        ${newKeyForm(signedIn, keyForm)}
      </section>
      <section class="block" aria-labelledby="subscriptions-title">
        <h2 id="subscriptions-title">Subscriptions</h2>
        <p class="muted">A subscription sends events to one URL, such as an n8n workflow.</p>
        ${liveSection('keys', 'subscriptions', '/keys/live/subscriptions', subscriptionsList(subscriptions, now))}
        ${newSubscriptionForm(signedIn, subscriptionForm ?? newForm())}
      </section>
    `),
  );

const newKeyForm = (signedIn: SignedIn, form: FormState | undefined): View => html`
  <details id="new-key" open=${form !== undefined}>
    <summary class="open-form">Create an API key</summary>
    <form method="post" action="/keys" class="narrow-form">
      ${csrfField(signedIn)}
      ${field({
        name: 'name',
        label: 'Name',
        form: form ?? newForm(),
        help: 'Shown as the sender of messages written with this key, such as n8n.',
        attributes: { required: true, maxlength: 100, autocomplete: 'off' },
      })}
      ${checkbox({ name: 'reveal', label: 'May read contact details in the clear', form: form ?? newForm() })}
      <p class="muted">Phone numbers and e-mails, for a CRM. Each reading is recorded with the key. Other keys see them masked.</p>
      <button>Create key</button>
    </form>
  </details>
`;

/** The active keys, then the revoked ones, folded. */
export function apiKeysList(signedIn: SignedIn, apiKeys: readonly ApiKey[], now: Date): View {
  const active = apiKeys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = apiKeys.filter(({ revokedAt }) => revokedAt !== null);
  return html`
    ${
      active.length === 0
        ? html`<p>No active keys. Create one below.</p>`
        : html`<ul class="records">${active.map((key) => activeKey(signedIn, key, now))}</ul>`
    }
    ${
      revoked.length === 0
        ? null
        : html`
            <details id="revoked-keys">
              <summary>Revoked keys (${revoked.length})</summary>
              <ul class="records">${revoked.map((key) => revokedKey(key, now))}</ul>
            </details>
          `
    }
  `;
}

const shortForm = ({ prefix, lastFour }: ApiKey) => `${prefix}…${lastFour}`;

const mayReveal = ({ permissions = [] }: ApiKey) => permissions.includes('contacts:reveal');

const revealsLink = (key: ApiKey): View =>
  mayReveal(key)
    ? html`<p><a href=${`/keys/${key.id}/reveals`} aria-label=${`Contact details read with the key ${key.name}`}>Contact details read</a></p>`
    : null;

const activeKey = (signedIn: SignedIn, key: ApiKey, now: Date): View => html`
  <li>
    <div class="what">
      <p><strong><bdi>${key.name}</bdi></strong>${' '}<code>${shortForm(key)}</code>${' '}${mayReveal(key) ? badge('Reads contact details') : null}</p>
      <p class="muted">
        Created ${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi>,${' '}
        ${key.lastUsedAt === null ? 'never used' : html`last used ${timeView(key.lastUsedAt, now)}`}
      </p>
      ${revealsLink(key)}
    </div>
    ${postButton(signedIn, {
      action: `/keys/${key.id}/revoke`,
      label: 'Revoke',
      confirm: `Revoke the key “${key.name}” (${shortForm(key)})? Everything that uses it stops working at once. You can’t undo this.`,
      button: {
        id: `revoke-${key.id}`,
        class: 'small outline secondary',
        'aria-label': `Revoke the key ${key.name} (${shortForm(key)})`,
      },
    })}
  </li>
`;

const revokedKey = (key: ApiKey, now: Date): View => html`
  <li>
    <div class="what">
      <p><bdi>${key.name}</bdi>${' '}<code>${shortForm(key)}</code></p>
      <p class="muted">Revoked ${timeView(key.revokedAt, now)}, created ${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi></p>
      ${revealsLink(key)}
    </div>
  </li>
`;
