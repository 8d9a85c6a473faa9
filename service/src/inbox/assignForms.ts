import { csrfField, postButton } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { threadHref } from './links.ts';
import type { PanelParts } from './threadParts.ts';

/** Who looks after the conversation: a list to choose from, and a button for oneself. */
export const assignForms = ({ signedIn, panel, place }: PanelParts): View => {
  const { members, conversation } = panel;
  const action = threadHref(conversation.id, place, {}, '/assign');
  const assigneeId = conversation.assigneeId ?? '';
  const own = signedIn.member.id;
  return html`
    <div class="choosing">
      <form method="post" action=${action} class="assign" hx-sync="this:drop">
        ${csrfField(signedIn)}
        <label for="assignee">Assigned to</label>
        <select id="assignee" name="member">
          <option value="" selected=${assigneeId === ''}>Nobody</option>
          ${members.map(
            ({ id, name }) => html`
              <option value=${id} selected=${id === assigneeId}>
                ${id === own ? `${name} (you)` : name}
              </option>
            `,
          )}
        </select>
        <button id="do-assign" class="secondary outline">Assign</button>
      </form>
      ${
        assigneeId === own
          ? null
          : postButton(signedIn, {
              action,
              label: 'Assign to me',
              hidden: { member: own },
              button: { id: 'do-assign-me', class: 'small secondary outline' },
              form: { class: 'to-me', 'hx-sync': 'this:drop' },
            })
      }
    </div>
  `;
};
