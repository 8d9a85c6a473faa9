import { isExpired, isOwner, isValid, type ApiKey, type SignedIn } from '../../../team/index.ts';
import { badge, postButton } from '../../../platform/html/components.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { timeView } from '../../../platform/html/times.ts';
import { mayReveal, permissionsInWords, shortForm } from './keyWords.ts';

/** The active keys, then the expired and the revoked ones, folded. */
export function apiKeysList(signedIn: SignedIn, apiKeys: readonly ApiKey[], now: Date): View {
  const active = apiKeys.filter((key) => isValid(key, now));
  const revoked = apiKeys.filter(({ revokedAt }) => revokedAt !== null);
  const expired = apiKeys.filter((key) => key.revokedAt === null && isExpired(key, now));
  return html`
    ${
      active.length === 0
        ? html`<p>No active keys.${isOwner(signedIn.member) ? ' Create one below.' : null}</p>`
        : html`<ul class="bare records">${active.map((key) => activeKey(signedIn, key, now))}</ul>`
    }
    ${folded('expired-keys', 'Expired keys', expired, now)}
    ${folded('revoked-keys', 'Revoked keys', revoked, now)}
  `;
}

const folded = (id: string, title: string, keys: readonly ApiKey[], now: Date): View =>
  keys.length === 0
    ? null
    : html`
        <details id=${id}>
          <summary>${title} (${keys.length})</summary>
          <ul class="bare records">${keys.map((key) => endedKey(key, now))}</ul>
        </details>
      `;

const SOON_MS = 7 * 24 * 60 * 60 * 1000;

const expiresSoon = ({ expiresAt }: ApiKey, now: Date): boolean =>
  typeof expiresAt === 'string' && Date.parse(expiresAt) - now.getTime() < SOON_MS;

const nameView = (key: ApiKey): View => html`
  <a id=${key.id} href=${`/keys/${key.id}`}><bdi>${key.name}</bdi></a>${' '}
  <code>${shortForm(key)}</code>
`;

export const revealsLink = (key: ApiKey): View =>
  mayReveal(key)
    ? html`
        <p>
          <a
            href=${`/keys/${key.id}/reveals`}
            aria-label=${`Contact details read with the key ${key.name}`}
          >
            Contact details read
          </a>
        </p>
      `
    : null;

/** When and from where a key was used last. */
export const lastUse = ({ lastUsedAt, lastUsedFrom }: ApiKey, now: Date): View =>
  lastUsedAt === null
    ? 'never used'
    : html`
        last used ${timeView(lastUsedAt, now)}
        ${lastUsedFrom ? html` from <bdi>${lastUsedFrom}</bdi>` : null}
      `;

const expiry = ({ expiresAt }: ApiKey, now: Date): View =>
  expiresAt ? html`expires ${timeView(expiresAt, now)}` : 'never expires';

const activeKey = (signedIn: SignedIn, key: ApiKey, now: Date): View => html`
  <li>
    <div class="what">
      <p>
        <strong>${nameView(key)}</strong>${' '}
        ${expiresSoon(key, now) ? badge('Expires soon', 'attention') : null}
        ${mayReveal(key) ? badge('Reads contact details') : null}
      </p>
      <p class="muted">
        Created ${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi>,${' '}
        ${lastUse(key, now)}
      </p>
      <p class="muted">${permissionsInWords(key)}, ${expiry(key, now)}</p>
      ${revealsLink(key)}
    </div>
    ${revokeButton(signedIn, key)}
  </li>
`;

export const revokeButton = (signedIn: SignedIn, key: ApiKey): View =>
  postButton(signedIn, {
    action: `/keys/${key.id}/revoke`,
    label: 'Revoke',
    confirm: `Revoke the key “${key.name}” (${shortForm(key)})? Everything that uses it stops working at once. You can’t undo this.`,
    button: {
      id: `revoke-${key.id}`,
      class: 'small danger',
      'aria-label': `Revoke the key ${key.name} (${shortForm(key)})`,
    },
  });

const endedKey = (key: ApiKey, now: Date): View => html`
  <li>
    <div class="what">
      <p>${nameView(key)}</p>
      <p class="muted">
        ${
          key.revokedAt === null
            ? html`Expired ${timeView(key.expiresAt ?? null, now)}`
            : html`Revoked ${timeView(key.revokedAt, now)}`
        }, created ${timeView(key.createdAt, now)} by <bdi>${key.createdBy}</bdi>
      </p>
      ${revealsLink(key)}
    </div>
  </li>
`;
