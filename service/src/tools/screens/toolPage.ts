import { memberNote, type SignedIn } from '../../team/index.ts';
import type { ToolInDetail } from '../operations/tools.ts';
import { ownerInWords } from '../../platform/owner.ts';
import type { Tool } from '../tool.ts';
import { backLink, postButton } from '../../platform/html/components.ts';
import { formProblem, type FormState } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveParts } from '../../platform/html/liveSection.ts';
import { timeView } from '../../platform/html/times.ts';
import { callSection, recentCalls } from './callView.ts';
import { testCallForm } from './argumentsForm.ts';
import { agentOffNote, stateBadge, stateOf, whyNotLive } from './toolState.ts';

export interface ToolPage extends ToolInDetail {
  readonly now: Date;
  readonly notice?: unknown;
  /** The form of the test call. */
  readonly form: FormState;
  /** Why the tool could not go live. */
  readonly refused?: string | undefined;
}

/** One tool: its state, a test call, its definition, and its recent calls. */
export function toolPage(signedIn: SignedIn, page: ToolPage): View {
  const { tool, shown, form, notice } = page;
  const query = shown === null ? '' : `?call=${shown.id}`;
  return teamPage(
    signedIn,
    { title: tool.name, section: 'tools', notice },
    html`
      ${backLink('/tools', 'Tools')}
      <h1>${tool.name}</h1>
      <p>${tool.description}</p>
      ${liveParts('tools', `/tools/${tool.id}/fragment${query}`, [
        'tool-calls',
        'tool-state',
        'tool-call',
      ])}
      ${stateSection(signedIn, page)}
      ${testCallForm(signedIn, tool, form)}
      ${callSection(tool, shown, page.now)}
      ${definitionSection(signedIn, tool)}
      ${recentCalls(tool, page.calls, page.now)}
    `,
  );
}

/** The parts of the page that live updates replace. */
export const livePartsOfTool = (signedIn: SignedIn, page: Omit<ToolPage, 'form'>): View => html`
  <div>
    ${stateSection(signedIn, page)}
    ${callSection(page.tool, page.shown, page.now)}
    ${recentCalls(page.tool, page.calls, page.now)}
  </div>
`;

function stateSection(signedIn: SignedIn, page: Omit<ToolPage, 'form'>): View {
  const { tool, now, refused, isAgentOn } = page;
  const why = whyNotLive(tool);
  const { lastTest } = tool;
  return html`
    <section id="tool-state" aria-labelledby="state-title">
      <h2 id="state-title">State ${stateBadge(tool)}</h2>
      ${formProblem(refused)}
      <p>
        ${stateOf(tool).description}
        ${tool.status !== 'draft' && tool.askBeforeRunning ? ' A person approves each call.' : null}
      </p>
      ${isAgentOn ? null : agentOffNote(signedIn)}
      ${lastTest === null ? null : lastTestView(lastTest, now)}
      <div class="row">
        ${tool.status === 'live' ? null : goLiveForm(signedIn, tool, why)}
        ${tool.status === 'live' || tool.goLiveCallId !== null ? pauseForm(signedIn, tool) : null}
      </div>
      ${
        tool.status === 'live' || why === null
          ? null
          : html`<p id="why-not-live" class="muted">${why}</p>`
      }
    </section>
  `;
}

const lastTestView = (
  { at, succeeded, error }: NonNullable<Tool['lastTest']>,
  now: Date,
): View => html`
  <p>
    Last test call ${succeeded ? 'succeeded' : 'failed'} ${timeView(at, now)}
    ${error === null ? '.' : html`: <span class="problem">${error}</span>`}
  </p>
`;

const goLiveForm = (signedIn: SignedIn, tool: Tool, why: string | null): View =>
  postButton(signedIn, {
    action: `/tools/${tool.id}/go-live`,
    label: 'Go live',
    button: {
      id: 'go-live',
      disabled: why !== null,
      'aria-describedby': why === null ? null : 'why-not-live',
    },
  });

const pauseForm = (signedIn: SignedIn, tool: Tool): View =>
  postButton(signedIn, {
    action: `/tools/${tool.id}/pause`,
    label: tool.status === 'live' ? 'Pause' : 'Don’t go live',
    button: { id: 'pause', class: 'secondary' },
  });

const definitionSection = (signedIn: SignedIn, tool: Tool): View => html`
  <section aria-labelledby="definition-title">
    <h2 id="definition-title">Definition</h2>
    <dl class="facts-list">
      <dt>Kind</dt><dd>${tool.kind}</dd>
      ${
        tool.publication
          ? html`
              <dt>Published by</dt>
              <dd>
                <bdi>${ownerInWords(tool.publication.owner)}</bdi>. ${
                  tool.publication.isReleased
                    ? 'Another workflow can take over by publishing a tool of this name.'
                    : 'Publishing it again overwrites changes made here.'
                }
              </dd>
            `
          : null
      }
      ${
        tool.requestTemplate === null
          ? html`<dt>Endpoint URL</dt><dd><code>${tool.endpoint}</code></dd>`
          : html`
              <dt>Request</dt>
              <dd><code>${tool.requestTemplate.method} ${tool.requestTemplate.url}</code></dd>
            `
      }
      ${
        tool.kind === 'HTTP'
          ? html`
              <dt>Secrets</dt>
              <dd>${Object.keys(tool.sealedTemplateSecrets).join(', ') || 'none'}</dd>
            `
          : null
      }
      <dt>Timeout</dt><dd>${tool.timeoutSeconds} s for each attempt</dd>
      <dt>Read only</dt>
      <dd>
        ${
          tool.readOnly
            ? 'Yes'
            : 'No. The keyword agent asks the customer before it calls the tool.'
        }
      </dd>
      ${
        (tool.examplePhrases ?? []).length === 0
          ? null
          : html`
              <dt>Example phrases</dt>
              <dd>${(tool.examplePhrases ?? []).join(' · ')}</dd>
            `
      }
      <dt>Ask before running</dt>
      <dd>${tool.askBeforeRunning ? 'Yes. A person approves each call.' : 'No'}</dd>
    </dl>
    ${memberNote(signedIn, 'An owner can test, change, pause and remove this tool.')}
    <div class="row">
      <a role="button" class="secondary" href=${`/tools/${tool.id}/edit`}>Edit</a>
      ${
        tool.kind === 'Webhook'
          ? postButton(signedIn, {
              action: `/tools/${tool.id}/rotate-secret`,
              label: 'Rotate signing secret',
              confirm: `Create a new signing secret for ${tool.name}? The current one stops working, and the endpoint refuses calls until you update it.`,
              button: { class: 'outline secondary' },
            })
          : null
      }
      ${
        tool.publication && !tool.publication.isReleased
          ? postButton(signedIn, {
              action: `/tools/${tool.id}/release`,
              label: 'Let another workflow take over',
              confirm: `Let another workflow take ${tool.name} over from ${ownerInWords(tool.publication.owner)}? The first one that publishes a tool of this name gets it. Until then, nothing changes.`,
              button: { class: 'outline secondary' },
            })
          : null
      }
      ${postButton(signedIn, {
        action: `/tools/${tool.id}/remove`,
        label: 'Remove',
        confirm: `Remove ${tool.name}? The agent can no longer call it, and calls that need approval are cancelled. Past calls stay on record.`,
        button: { class: 'danger' },
      })}
    </div>
  </section>
`;
