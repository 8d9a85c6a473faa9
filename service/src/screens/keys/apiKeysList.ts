import type { ApiKey } from '../../domain/apiKey.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';
import { timeView } from '../times.ts';

/** The keys that work, then the revoked ones, folded. */
export function apiKeysList(signedIn: SignedIn, apiKeys: readonly ApiKey[], now: Date): View {
  const { working = [], revoked = [] } = Object.groupBy(apiKeys, ({ revokedAt }) =>
    revokedAt === null ? 'working' : 'revoked',
  );
  return html`
    ${working.length === 0 ? html`<p>There is no key that works. Create one below.</p>` : html`<ul class="keys-records">${working.map((key) => workingKey(signedIn, key, now))}</ul>`}
    ${
      revoked.length === 0
        ? null
        : html`
          <details id="revoked-keys">
            <summary>Revoked keys (${revoked.length})</summary>
            <ul class="keys-records">${revoked.map((key) => revokedKey(key, now))}</ul>
          </details>
        `
    }
  `;
}

const shortForm = ({ prefix, lastFour }: ApiKey) => `${prefix}…${lastFour}`;

const workingKey = (signedIn: SignedIn, key: ApiKey, now: Date): View => html`
  <li>
    <div class="what">
      <p><strong><bdi>${key.name}</bdi></strong>${' '}<code>${shortForm(key)}</code></p>
      <p class="muted">
        Created ${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi>,${' '}
        ${key.lastUsedAt === null ? 'never used' : html`last used ${timeView(key.lastUsedAt, now)}`}
      </p>
    </div>
    <form method="post" action=${`/keys/${key.id}/revoke`} data-confirm=${`Revoke the key “${key.name}” (${shortForm(key)})? What uses it stops working at once, for good.`}>
      ${csrfField(signedIn)}
      <button id=${`revoke-${key.id}`} class="small outline secondary" aria-label=${`Revoke the key ${key.name} (${shortForm(key)})`}>Revoke</button>
    </form>
  </li>
`;

const revokedKey = (key: ApiKey, now: Date): View => html`
  <li>
    <div class="what">
      <p><bdi>${key.name}</bdi>${' '}<code>${shortForm(key)}</code></p>
      <p class="muted">Revoked ${timeView(key.revokedAt, now)}, created ${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi></p>
    </div>
  </li>
`;
