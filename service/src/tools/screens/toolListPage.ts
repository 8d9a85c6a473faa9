import { memberNote, type SignedIn } from '../../team/index.ts';
import type { ToolWithLastCall } from '../operations/tools.ts';
import { sparkLine, type DailyCounts } from '../../overview/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import { agentOffNote, lastCallView, stateBadge } from './toolState.ts';

/** All tools. Live updates replace the list. */
export const toolListPage = (
  signedIn: SignedIn,
  tools: readonly ToolWithLastCall[],
  {
    now,
    dailyCalls,
    notice,
    isAgentOn,
  }: { now: Date; dailyCalls: DailyCounts; notice: unknown; isAgentOn: boolean },
): View =>
  teamPage(
    signedIn,
    { title: 'Tools', section: 'tools', notice },
    html`
      <div class="row title">
        <h1>Tools</h1>
        <a role="button" href="/tools/new">New tool</a>
      </div>
      <p class="muted">What the agent can do in your own systems, such as looking up an order or booking an appointment.</p>
      ${memberNote(signedIn, 'An owner can create and change tools.')}
      ${
        !isAgentOn && tools.some(({ tool }) => tool.status === 'live')
          ? agentOffNote(signedIn)
          : null
      }
      ${liveSection('tools', 'tools-live', '/tools/fragment', toolTable(tools, dailyCalls, now))}
    `,
  );

/** The part of the page that live updates replace. */
export const toolTable = (
  tools: readonly ToolWithLastCall[],
  dailyCalls: DailyCounts,
  now: Date,
): View => html`
  <div id="tools" class="scroll">
    ${
      tools.length === 0
        ? html`<p>No tools yet. A tool lets the agent look something up or do something in your systems. An owner creates one here, or with the Conversation Service Agent Call Trigger in n8n: see the <a href="/examples#find-order-tool">example</a>.</p>`
        : html`
          <table>
            <thead>
              <tr>
                <th scope="col">Tool</th>
                <th scope="col">Kind</th>
                <th scope="col">State</th>
                <th scope="col">Last call</th>
              </tr>
            </thead>
            <tbody>
              ${tools.map((each) => toolRow(each, dailyCalls, now))}
            </tbody>
          </table>
        `
    }
  </div>
`;

const toolRow = (
  { tool, lastCall }: ToolWithLastCall,
  dailyCalls: DailyCounts,
  now: Date,
): View => html`
  <tr>
    <th scope="row">
      <a id=${`tool-${tool.id}`} href=${`/tools/${tool.id}`}>${tool.name}</a>
      <small class="clipped">${excerpt(tool.description)}</small>
    </th>
    <td>${tool.kind}</td>
    <td>
      ${stateBadge(tool)}
      ${tool.askBeforeRunning ? html` <small class="muted">needs approval</small>` : null}
    </td>
    <td>${lastCallView(lastCall, now)}${sparkLine(dailyCalls.get(tool.name), 'call')}</td>
  </tr>
`;

const MAX_EXCERPT_CHARACTERS = 140;

const excerpt = (text: string) =>
  [...text].length > MAX_EXCERPT_CHARACTERS
    ? `${[...text].slice(0, MAX_EXCERPT_CHARACTERS).join('')}…`
    : text;
