import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { ToolInDetail } from '../../domain/operations/readTool.ts';
import { ownerInWords } from '../../domain/owner.ts';
import type { Tool } from '../../domain/tool.ts';
import { formProblem, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { timeView } from '../times.ts';
import { callSection, recentCalls } from './callView.ts';
import { testCallForm } from './testCallForm.ts';
import { stateBadge, stateOf, whyNotLive } from './toolState.ts';

export interface ToolPage extends ToolInDetail {
  readonly now: Date;
  readonly notice?: unknown;
  /** What stands in the form of the test call. */
  readonly values: FormValues;
  readonly problems?: Problems;
  /** Why going live was refused. */
  readonly refused?: string | undefined;
}

/** One tool: where it stands, a test call, what it is, its recent calls. */
export function toolPage(signedIn: SignedIn, page: ToolPage): View {
  const { tool, shown, values, problems = {}, notice } = page;
  const query = shown === null ? '' : `?call=${shown.id}`;
  return teamPage(
    signedIn,
    { title: tool.name, section: 'tools', notice },
    html`
      <p class="back"><a href="/tools">All tools</a></p>
      <h1>${tool.name}</h1>
      <p>${tool.description}</p>
      <div hx-ext="sse" sse-connect="/live">
        <span hidden hx-get=${`/tools/${tool.id}/fragment${query}`} hx-trigger="sse:tools, htmx:sseOpen from:closest [sse-connect]" hx-target="#tool-calls" hx-select="#tool-calls" hx-select-oob="#tool-state,#tool-call" hx-swap="outerHTML show:none"></span>
      </div>
      ${stateSection(signedIn, page)}
      ${testCallForm(signedIn, tool, values, problems)}
      ${callSection(tool, shown, page.now)}
      ${definitionSection(signedIn, tool)}
      ${recentCalls(tool, page.calls, page.now)}
    `,
  );
}

/** The parts that change by themselves. */
export const livePartsOfTool = (signedIn: SignedIn, page: Omit<ToolPage, 'values'>): View => html`
  <div>${stateSection(signedIn, page)}${callSection(page.tool, page.shown, page.now)}${recentCalls(page.tool, page.calls, page.now)}</div>
`;

function stateSection(signedIn: SignedIn, { tool, now, refused }: Omit<ToolPage, 'values'>): View {
  const why = whyNotLive(tool);
  const { lastTest } = tool;
  return html`
    <section id="tool-state" aria-labelledby="state-title">
      <h2 id="state-title">State ${stateBadge(tool)}</h2>
      ${formProblem(refused)}
      <p>${stateOf(tool).words}${tool.status === 'draft' || tool.askBeforeRunning === false ? null : ' A person approves each call before it is made.'}</p>
      ${lastTest === null ? null : html`<p>Last test call ${lastTest.succeeded ? 'succeeded' : 'failed'} ${timeView(lastTest.at, now)}${lastTest.error === null ? '.' : html`: <span class="problem">${lastTest.error}</span>`}</p>`}
      <div class="row">
        ${tool.status === 'live' ? null : goLiveForm(signedIn, tool, why)}
        ${tool.status === 'live' || tool.goLiveCallId !== null ? pauseForm(signedIn, tool) : null}
      </div>
      ${tool.status === 'live' || why === null ? null : html`<p id="why-not-live" class="muted">${why}</p>`}
    </section>
  `;
}

const goLiveForm = (signedIn: SignedIn, tool: Tool, why: string | null): View => html`
  <form method="post" action=${`/tools/${tool.id}/go-live`}>${csrfField(signedIn)}<button id="go-live" disabled=${why !== null} aria-describedby=${why === null ? null : 'why-not-live'}>Go live</button></form>
`;

const pauseForm = (signedIn: SignedIn, tool: Tool): View => html`
  <form method="post" action=${`/tools/${tool.id}/pause`}>${csrfField(signedIn)}<button id="pause" class="secondary">${tool.status === 'live' ? 'Pause' : 'Do not go live'}</button></form>
`;

const definitionSection = (signedIn: SignedIn, tool: Tool): View => html`
  <section aria-labelledby="definition-title">
    <h2 id="definition-title">Definition</h2>
    <dl class="facts-list">
      <dt>Kind</dt><dd>${tool.kind}</dd>
      ${tool.publication ? html`<dt>Published by</dt><dd>${ownerInWords(tool.publication.owner)}. When it is published again, it replaces what was changed here.</dd>` : null}
      ${
        tool.requestTemplate === null
          ? html`<dt>Endpoint</dt><dd><code>${tool.endpoint}</code></dd>`
          : html`<dt>Request</dt><dd><code>${tool.requestTemplate.method} ${tool.requestTemplate.url}</code></dd>`
      }
      ${tool.kind === 'HTTP' ? html`<dt>Secrets</dt><dd>${Object.keys(tool.sealedTemplateSecrets).join(', ') || 'none'}</dd>` : null}
      <dt>Time-out</dt><dd>${tool.timeoutSeconds} s for one attempt</dd>
      <dt>Read only</dt><dd>${tool.readOnly ? 'yes: it changes nothing' : 'no: the keyword agent asks the customer before it calls it'}</dd>
      ${(tool.examplePhrases ?? []).length === 0 ? null : html`<dt>Example phrases</dt><dd>${(tool.examplePhrases ?? []).join(' · ')}</dd>`}
      <dt>Ask before running</dt><dd>${tool.askBeforeRunning ? 'on: a person approves each call' : 'off'}</dd>
    </dl>
    <div class="row">
      <a role="button" class="secondary" href=${`/tools/${tool.id}/edit`}>Edit</a>
      ${
        tool.kind === 'Webhook'
          ? html`<form method="post" action=${`/tools/${tool.id}/rotate-secret`} data-confirm=${`Give ${tool.name} a new signing secret? The present one signs no more, and the endpoint refuses calls until it knows the new one.`}>${csrfField(signedIn)}<button class="outline secondary">Rotate the signing secret</button></form>`
          : null
      }
      <form method="post" action=${`/tools/${tool.id}/remove`} data-confirm=${`Remove ${tool.name}? The agent can call it no more, and what waits for approval is cancelled. Its calls stay on record.`}>${csrfField(signedIn)}<button class="outline secondary">Remove</button></form>
    </div>
  </section>
`;
