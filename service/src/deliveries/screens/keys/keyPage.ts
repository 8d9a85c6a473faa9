import { isExpired, type ApiKey, type SignedIn } from '../../../team/index.ts';
import { backLink, badge } from '../../../platform/html/components.ts';
import type { FormState } from '../../../platform/html/forms.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { teamPage } from '../../../platform/html/layout.ts';
import { timeView } from '../../../platform/html/times.ts';
import { lastUse, revealsLink, revokeButton } from './apiKeysList.ts';
import { editKeyForm } from './keyForm.ts';
import { mayReveal, permissionsInWords, shortForm } from './keyWords.ts';

interface KeyPage {
  readonly now: Date;
  readonly notice?: unknown;
  readonly form?: FormState;
}

/** One API key: what it may do, until when, and where it was used last. */
export const keyPage = (signedIn: SignedIn, key: ApiKey, { now, notice, form }: KeyPage): View =>
  teamPage(
    signedIn,
    { title: `API key ${key.name}`, section: 'keys', notice },
    html`
      ${backLink('/keys', 'Keys and subscriptions')}
      <h1><bdi>${key.name}</bdi></h1>
      <section class="block" aria-label="State">
        <dl class="facts-list">
          <dt>State</dt><dd>${stateOf(key, now)}</dd>
          <dt>Key</dt><dd><code>${shortForm(key)}</code></dd>
          <dt>Permissions</dt>
          <dd>
            ${permissionsInWords(key)}${mayReveal(key) ? '; contact details in the clear' : null}
          </dd>
          <dt>Expires</dt><dd>${key.expiresAt ? timeView(key.expiresAt, now) : 'never'}</dd>
          <dt>Last use</dt><dd>${lastUse(key, now)}</dd>
          <dt>Created</dt><dd>${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi></dd>
        </dl>
        ${revealsLink(key)}
      </section>
      ${
        key.revokedAt !== null
          ? null
          : html`
              <section class="block" aria-label="Actions">
                <div class="row">${revokeButton(signedIn, key)}</div>
                ${editKeyForm(signedIn, key, form)}
              </section>
            `
      }
    `,
  );

function stateOf(key: ApiKey, now: Date): View {
  if (key.revokedAt !== null) return html`${badge('Revoked')} ${timeView(key.revokedAt, now)}`;
  return isExpired(key, now) ? badge('Expired', 'bad') : badge('Active', 'good');
}
