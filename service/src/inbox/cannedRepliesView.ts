import { copyButton } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { fillIn, type CannedReply, type Known } from '../team/index.ts';
import type { ThreadParts } from './threadParts.ts';

/**
 * The canned replies, filled in for this customer, to copy from. canned-replies.js makes them a
 * list to choose from when a reply begins with `/`. If there are none, writing.js opens a note that
 * says so.
 */
export function cannedRepliesView({
  signedIn,
  thread,
  cannedReplies = [],
}: ThreadParts & { readonly cannedReplies?: readonly CannedReply[] }): View {
  if (cannedReplies.length === 0) return noCannedReplies();
  const { name, email, phone } = thread.contact;
  const known: Known = {
    customer_name: name,
    customer_first_name: name?.trim().split(/\s+/)[0] ?? null,
    customer_email: email,
    customer_phone: phone === null ? null : `+${phone}`,
    member_name: signedIn.member.name,
    workspace_name: signedIn.workspace.name,
  };
  return html`
    <details id="canned" class="canned">
      <summary>Canned replies</summary>
      <ul class="bare">
        ${cannedReplies.map(
          (reply) => html`
            <li data-shortcut=${reply.shortcut}>
              <span class="canned-name">
                <b dir="auto">${reply.name}</b> <code>/${reply.shortcut}</code>
              </span>
              <span class="text" dir="auto" id=${`text-${reply.id}`}>
                ${fillIn(reply.text, known)}
              </span>
              ${copyButton(`text-${reply.id}`, reply.name, 'small secondary outline')}
            </li>
          `,
        )}
      </ul>
      <p><a href="/settings/canned-replies">Edit the canned replies</a></p>
    </details>
  `;
}

/** Screen readers read it aloud when `/` opens it. */
const noCannedReplies = (): View => html`
  <details id="canned" class="canned" data-empty aria-live="polite">
    <summary>Canned replies</summary>
    <p>No canned replies yet. <a href="/settings/canned-replies">Create the first one</a></p>
  </details>
`;
