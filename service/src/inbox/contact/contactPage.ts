import {
  type Contact,
  customerName,
  type ForgetPreview,
  MAX_CONTACT_NAME_CHARACTERS,
} from '../../conversations/index.ts';
import { backLink, csrfField } from '../../platform/html/components.ts';
import { checkbox, field, type FormState, newForm } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import type { SignedIn } from '../../team/index.ts';
import { threadHref } from '../links.ts';
import type { InboxPlace } from '../listInbox.ts';

interface ContactPage {
  readonly conversationId: string;
  readonly place: InboxPlace;
  readonly preview: ForgetPreview;
  /** Whether this member may forget the contact. */
  readonly mayForget: boolean;
  readonly form?: FormState;
  readonly notice: unknown;
}

/** A contact's name, and how to forget the contact. */
export const contactPage = (signedIn: SignedIn, page: ContactPage): View => {
  const { conversationId, place, preview } = page;
  const { contact } = preview;
  return teamPage(
    signedIn,
    { title: `Contact ${customerName(contact)}`, section: 'conversations', notice: page.notice },
    html`
      ${backLink(threadHref(conversationId, place), 'Conversation')}
      <h1>Contact <bdi>${customerName(contact)}</bdi></h1>
      <form
        method="post"
        action=${threadHref(conversationId, place, {}, '/contact')}
        class="narrow-form"
      >
        ${csrfField(signedIn)}
        ${field({
          name: 'name',
          label: 'Name',
          form: page.form ?? newForm({ name: contact.name ?? '' }),
          help: 'Your team sees it, and events and the API carry it. Once you set it, messages from the channel no longer change it. Leave it empty to use the channel’s name again.',
          attributes: { maxlength: MAX_CONTACT_NAME_CHARACTERS, autocomplete: 'off', dir: 'auto' },
        })}
        <button>Save</button>
      </form>
      ${forgetSection(signedIn, page)}
    `,
  );
};

function forgetSection(signedIn: SignedIn, page: ContactPage): View {
  const { conversationId, place, preview, mayForget } = page;
  return html`
    <section class="block" aria-labelledby="forget-title">
      <h2 id="forget-title">Forget this contact</h2>
      <p>This removes everything personal, for good:</p>
      <ul>
        <li>${detailsInWords(preview.contact)}, and their sessions in the web chat.</li>
        <li>
          ${counted(preview.conversations, 'conversation')} with ${counted(preview.messages, 'message')}, the team’s notes, summaries, and what search finds.
        </li>
        <li>
          Tool calls with their arguments and results, questions of workflows, and the agent’s turns.
        </li>
        <li>
          Events about these conversations, and their deliveries with payloads and answers. Those that wait to be sent are cancelled, as are open questions, approvals and payment links.
        </li>
      </ul>
      <p>
        Payments stay, with their amount, status, times and reference, but without a description or a
        name. In a reference that your team noted, only this contact’s phone number and email are
        masked; its other words stay. The figures of the overview stay. Receivers, n8n, the tools and
        the payment provider keep what they were sent, and earlier backups and exports keep what they
        hold.
      </p>
      ${
        mayForget
          ? html`
            <form method="post" action=${threadHref(conversationId, place, {}, '/forget')}>
              ${csrfField(signedIn)}
              ${checkbox({
                name: 'sure',
                label: 'Remove all of this. It cannot be undone.',
                attributes: { required: true },
              })}
              <button class="danger" id="do-forget">Forget ${customerName(preview.contact)}</button>
            </form>
          `
          : html`<p class="muted">Only an owner of the workspace can forget a contact.</p>`
      }
    </section>
  `;
}

/** "The name and the phone number". */
function detailsInWords({ name, phone, email }: Contact): string {
  const known = [
    name === null ? null : 'the name',
    phone === null ? null : 'the phone number',
    email === null ? null : 'the email',
  ].filter((each) => each !== null);
  if (known.length === 0) return 'Their details from the channel';
  const words = new Intl.ListFormat('en').format(known);
  return `${words[0]!.toUpperCase()}${words.slice(1)}`;
}

/** "1 message", "2 messages". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
