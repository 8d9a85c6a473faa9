import { postButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { newFormToken } from '../../platform/security/tokens.ts';
import { isOwner, type SignedIn } from '../../team/index.ts';
import { type FirstHour, type Step, STEPS } from '../firstHour.ts';

interface Words {
  readonly label: string;
  /** What exactly to do, while the step is not done. */
  readonly next: View;
}

const WORDS: Readonly<Record<Step, Words>> = {
  key: {
    label: 'Create an API key',
    next: html`
      Under <a href="/keys">
        Keys and subscriptions
      </a>, choose a name such as “n8n” and create it. Copy the key: it is shown once.
    `,
  },
  n8n: {
    label: 'Connect n8n',
    next: html`In n8n, add the Conversation Service Trigger to a workflow, paste the key into its credential, and publish the workflow. Or import one of the <a href="/examples">examples</a>.`,
  },
  event: {
    label: 'Deliver the first event',
    next: 'Publish a workflow, then send a test message (an owner can do it on this page). The workflow gets its event within seconds.',
  },
  answer: {
    label: 'Send the first reply',
    next: html`
      Open the test message under <a href="/conversations?tab=all">
        Conversations
      </a> and reply, or let a workflow reply.
    `,
  },
  channel: {
    label: 'Let customers write to you',
    next: html`
      The web chat works already, at <a href="/chat" target="_blank">
        /chat
      </a>; the snippet for your website is under <a href="/agent#chat-title">
        Agent
      </a>. For WhatsApp, connect a number under <a href="/channels">
        Channels
      </a>. This step is done once a customer has written, or a number is connected.
    `,
  },
  agent: {
    label: 'Turn the agent on',
    next: html`
      Try it under <a href="/agent">
        Agent
      </a>, then turn it on. It answers until a person takes over.
    `,
  },
  colleague: {
    label: 'Invite a colleague',
    next: html`Under <a href="/team">Team</a>, create an invitation link and send it to them.`,
  },
};

/**
 * The checklist of the first hour: what to do after the set-up. A step is ticked once it has
 * happened, no matter who did it.
 */
export const firstHourView = (signedIn: SignedIn, done: FirstHour): View => html`
  <section class="first-hour" aria-labelledby="first-hour-title">
    <h2 id="first-hour-title">First steps: ${done.size} of ${STEPS.length} done</h2>
    <ol class="bare" role="list">${STEPS.map((step) => stepView(step, done.has(step)))}</ol>
    ${
      isOwner(signedIn.member)
        ? html`
            <div class="row">
              ${postButton(signedIn, {
                action: '/overview/test-message',
                label: 'Send me a test message',
                hidden: { form: newFormToken() },
                form: { class: 'inline' },
              })}
              ${postButton(signedIn, {
                action: '/overview/first-steps/dismiss',
                label: 'Dismiss these steps',
                button: { class: 'secondary outline' },
                form: { class: 'inline' },
              })}
            </div>
          `
        : null
    }
  </section>
`;

const stepView = (step: Step, isDone: boolean): View => html`
  <li id=${`step-${step}`} data-done=${isDone ? 'true' : 'false'}>
    <span class="tick" aria-hidden="true">${isDone ? '✓' : '○'}</span>
    <b>${WORDS[step].label}</b>
    ${
      isDone
        ? html`<span class="visually-hidden"> (done)</span>`
        : html`<p class="muted">${WORDS[step].next}</p>`
    }
  </li>
`;
