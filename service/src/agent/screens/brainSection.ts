import { badge, postButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { timeView } from '../../platform/html/times.ts';
import { ownerInWords } from '../../platform/owner.ts';
import type { SignedIn } from '../../team/index.ts';
import { isEnabled, usesWebhook } from '../agentSettings.ts';
import type { AgentWebhook } from '../webhook/agentWebhook.ts';
import type { AgentParts } from './agentParts.ts';

/** What decides for the agent: the built-in agent or the language model, or a workflow. */
export const brainSection = (signedIn: SignedIn, parts: AgentParts): View => html`
  <section id="brain" aria-labelledby="brain-title">
    <h2 id="brain-title">Brain</h2>
    <p class="muted">
      What decides how the agent answers. A change applies from the next turn on. A workflow that is working on a turn still answers it.
    </p>
    ${unpublishedNote(parts)}
    ${modelBrain(signedIn, parts)}
    ${workflowBrain(signedIn, parts)}
  </section>
`;

/** Shown while customers get no answers because their workflow is unpublished. */
function unpublishedNote({ settings, webhook, now }: AgentParts): View {
  if (!usesWebhook(settings) || !isEnabled(settings) || webhook?.removedAt === null) return null;
  return html`
    <p class="problem" role="note">
      <b>No workflow is published as the agent.</b>
      ${
        webhook ? html` It was unpublished ${timeView(webhook.removedAt, now)}.` : null
      } A message from a customer waits for a minute, then a person gets the conversation. Publish the workflow in n8n again, or choose another brain.
    </p>
  `;
}

interface Brain {
  readonly id: string;
  readonly title: View;
  readonly isUsed: boolean;
  /** Posted to choose it; null when it cannot be chosen. */
  readonly choice: 'workflow' | 'model' | null;
  readonly label: string;
}

const brainCard = (signedIn: SignedIn, brain: Brain, content: View, release: View = null): View => {
  const choice = chooseButton(signedIn, brain);
  return html`
    <article class="brain" aria-labelledby=${brain.id}>
      <h3 id=${brain.id}>${brain.title} ${brain.isUsed ? badge('in use', 'good') : null}</h3>
      ${content}
      ${
        choice === null && release === null
          ? null
          : html`<div class="row">${choice}${release}</div>`
      }
    </article>
  `;
};

const chooseButton = (signedIn: SignedIn, { isUsed, choice, label }: Brain): View =>
  isUsed || choice === null
    ? null
    : postButton(signedIn, {
        action: '/agent/brain',
        label,
        hidden: { brain: choice },
        button: { id: `use-${choice}`, class: 'secondary' },
      });

const LIVE_TOOLS = ['It cannot call any tools yet: none is live.', 'It can call 1 live tool.'];

function modelBrain(signedIn: SignedIn, { settings, model, liveTools }: AgentParts): View {
  const isKeyword = model.host === null;
  const brain = {
    id: 'brain-model',
    title: isKeyword ? 'Keyword agent' : 'Language model',
    isUsed: !usesWebhook(settings),
    choice: 'model',
    label: isKeyword ? 'Use the keyword agent' : 'Use the language model',
  } as const;
  return brainCard(
    signedIn,
    brain,
    html`
      ${
        isKeyword
          ? html`
            <p>
              <strong>Built-in keyword agent.</strong> It picks a live tool by its keywords and example phrases, takes the arguments from the message, and asks for what is missing. It calls a read-only tool directly and any other tool after the customer’s yes. It hands over to a person when it is not sure. It is not a language model. To use one, set <code>LLM_BASE_URL</code> and <code>LLM_MODEL</code>.
            </p>
          `
          : html`
            <p>
              <strong>${model.name}</strong> at <code>${model.host}</code>, set by <code>LLM_MODEL</code> and <code>LLM_BASE_URL</code>.
            </p>
          `
      }
      <p>
        ${LIVE_TOOLS[liveTools] ?? `It can call ${liveTools} live tools.`} <a href="/tools">Tools</a>
      </p>
    `,
  );
}

function workflowBrain(signedIn: SignedIn, parts: AgentParts): View {
  const { settings, webhook, listening, now } = parts;
  const brain = {
    id: 'brain-workflow',
    title: 'Workflow',
    isUsed: usesWebhook(settings),
    choice: webhook === null ? null : 'workflow',
    label: 'Use the workflow',
  } as const;
  const content = html`
    ${
      webhook === null
        ? html`
          <p>
            A workflow in n8n decides, with tools of its own. None has been published as the agent yet: in n8n, add the <strong>Conversation Service Agent Trigger</strong> to a workflow and publish it.
          </p>
        `
        : webhookFacts(webhook, now)
    }
    ${
      listening === null
        ? null
        : html`
          <p>
            The editor of ${ownerInWords(listening.owner)} listens for a test event. Messages under “Try it” go there.
          </p>
        `
    }
  `;
  return brainCard(signedIn, brain, content, releaseButton(signedIn, webhook));
}

const webhookFacts = (webhook: AgentWebhook, now: Date): View => html`
  <dl class="facts-list">
    <dt>Published by</dt>
    <dd>
      <bdi>${ownerInWords(webhook.owner)}</bdi>.${
        webhook.isReleased ? ' Another workflow can take over by publishing.' : null
      }
    </dd>
    <dt>State</dt>
    <dd>
      ${
        webhook.removedAt === null
          ? html`Published ${timeView(webhook.publishedAt, now)}`
          : html`
            <span class="problem">
              Unpublished ${timeView(webhook.removedAt, now)}.
            </span> Any workflow can be published in its place.
          `
      }
    </dd>
    <dt>Address</dt><dd><code>${webhook.endpoint}</code></dd>
    <dt>Time for a turn</dt><dd>${webhook.timeoutSeconds} s</dd>
  </dl>
`;

/** An unpublished workflow needs no release: any workflow can take its place. */
const releaseButton = (signedIn: SignedIn, webhook: AgentWebhook | null): View =>
  webhook?.removedAt !== null || webhook.isReleased
    ? null
    : postButton(signedIn, {
        action: '/agent/release',
        label: 'Let another workflow take over',
        confirm: `Let another workflow take over from ${ownerInWords(webhook.owner)}? The first one that is published as the agent takes its place. Until then, it goes on answering.`,
        button: { id: 'release', class: 'outline secondary' },
      });
