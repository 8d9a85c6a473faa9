import type { ApiKey } from '../../domain/workspace.ts';
import type { SignedIn } from '../../domain/operations/sessions.ts';
import { postButton } from '../components.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';

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

const activeKey = (signedIn: SignedIn, key: ApiKey, now: Date): View => html`
  <li>
    <div class="what">
      <p><strong><bdi>${key.name}</bdi></strong>${' '}<code>${shortForm(key)}</code></p>
      <p class="muted">
        Created ${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi>,${' '}
        ${key.lastUsedAt === null ? 'never used' : html`last used ${timeView(key.lastUsedAt, now)}`}
      </p>
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
    </div>
  </li>
`;
