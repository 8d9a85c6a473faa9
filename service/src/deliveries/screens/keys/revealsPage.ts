import { customerName, type RevealView } from '../../../conversations/index.ts';
import type { ApiKey, SignedIn } from '../../../team/index.ts';
import { addressWith, backLink, pager } from '../../../platform/html/components.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { teamPage } from '../../../platform/html/layout.ts';
import { timeView } from '../../../platform/html/times.ts';
import type { Page } from '../../../platform/http/page.ts';

/**
 * Whose phone and e-mail a key has read in the clear, newest first.
 * @param page.isFirst whether the newest are shown
 */
export const revealsPage = (
  signedIn: SignedIn,
  key: ApiKey,
  { items, nextCursor, isFirst }: Page<RevealView> & { readonly isFirst: boolean },
  now: Date,
): View => {
  const href = `/keys/${key.id}/reveals`;
  return teamPage(
    signedIn,
    { title: 'Contact details read', section: 'keys' },
    html`
      ${backLink('/keys', 'Keys and subscriptions')}
      <h1>Contact details read with “<bdi>${key.name}</bdi>”</h1>
      <p class="muted">Each time this key read a phone number or an e-mail in the clear. Removing a contact removes its entries.</p>
      ${
        items.length === 0
          ? html`<p>Nothing was read.</p>`
          : html`<ul class="bare records">${items.map((item) => revealView(item, now))}</ul>`
      }
      ${pager('Pages', {
        newest: isFirst ? null : href,
        older: nextCursor === null ? null : addressWith(href, { after: nextCursor }),
      })}
    `,
  );
};

const revealView = ({ reveal, contact, conversationId }: RevealView, now: Date): View => html`
  <li>
    <div class="what">
      <p>${
        conversationId === null
          ? html`<bdi>${customerName(contact)}</bdi>`
          : html`
              <a href=${`/conversations/${conversationId}`}>
                <bdi>${customerName(contact)}</bdi>
              </a>
            `
      }</p>
      <p class="muted">${timeView(reveal.createdAt, now)}</p>
    </div>
  </li>
`;
