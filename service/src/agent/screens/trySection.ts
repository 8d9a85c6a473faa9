import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import { csrfField } from '../../platform/html/components.ts';
import { newForm, textArea } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { isOwner, type SignedIn } from '../../team/index.ts';
import { usesWebhook } from '../agentSettings.ts';
import type { AgentPage, AgentParts } from './agentParts.ts';
import { triedTurnView, triedView } from './triedView.ts';

/** A form to write to the agent as a customer would, and what came back. */
export const trySection = (signedIn: SignedIn, page: AgentPage): View => html`
  <section id="try" aria-labelledby="try-title">
    <h2 id="try-title">Try it</h2>
    ${tryHint(signedIn, page)}
    ${isOwner(signedIn.member) ? tryForm(signedIn, page) : null}
    ${
      page.tried?.step
        ? html`
          <div id="tried" aria-live="polite">
            ${triedView(page.tried.step, page.settings.name)}
          </div>
        `
        : triedPart(page)
    }
  </section>
`;

const tryForm = (signedIn: SignedIn, page: AgentPage): View => html`
  <form
    method="post"
    action="/agent/try"
    hx-swap="innerHTML show:#try:top"
    hx-disabled-elt="find button"
  >
    ${csrfField(signedIn)}
    ${textArea({
      name: 'text',
      label: 'Customer message',
      form: page.tried?.form ?? newForm({ text: page.triedTurn?.tried?.text ?? '' }),
      attributes: {
        rows: 2,
        required: true,
        maxlength: MAX_MESSAGE_CHARACTERS,
        placeholder: 'Where is my order A-1042?',
      },
    })}
    <button class="fit">Try it</button>
  </form>
`;

/** Says what happens with a message. Live updates replace it. */
export const tryHint = ({ member }: SignedIn, parts: AgentParts): View =>
  isOwner(member)
    ? html`
      <p id="try-hint" class="muted">
        Write a message as a customer would. ${whatHappens(parts)}
      </p>
    `
    : html`
      <p id="try-hint" class="muted">
        An owner can write to the agent here as a customer would.
      </p>
    `;

/** What a workflow answered to a test. Live updates replace it. */
export const triedPart = ({ triedTurn, settings }: AgentParts): View => html`
  <div id="tried" aria-live="polite">
    ${triedTurn === null ? null : triedTurnView(triedTurn, settings)}
  </div>
`;

const whatHappens = ({ settings, webhook, listening }: AgentParts): string => {
  if (listening !== null)
    return 'The n8n editor that listens for a test event gets it, and runs the workflow. No customer sees the answer.';
  if (!usesWebhook(settings))
    return 'The agent uses the live tools and the saved settings, but no tool is called and nothing is stored.';
  return webhook?.removedAt === null
    ? 'The published workflow really runs, with its tools. No customer sees the answer.'
    : 'No workflow is there to answer: in n8n, publish it, or choose Execute step on its trigger.';
};
