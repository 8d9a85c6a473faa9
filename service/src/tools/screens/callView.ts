import type { Tool } from '../tool.ts';
import { isComplete, resultBeginning, type ToolCall } from '../calls/toolCall.ts';
import { showRequest } from '../calls/shownRequest.ts';
import { callBadge } from './callBadge.ts';
import { html, type View } from '../../platform/html/html.ts';
import { timeView } from '../../platform/html/times.ts';
import type { Json, JsonObject } from '../../platform/json.ts';
import { shorten } from '../../platform/shorten.ts';

const MAX_SHOWN_CHARACTERS = 20_000;
const MAX_LISTED_CHARACTERS = 3000;

/** One call: its request and its response. */
export const callSection = (tool: Tool, call: ToolCall | null, now: Date): View => html`
  <div id="tool-call" aria-live="polite">
    ${
      call === null
        ? null
        : html`
          <article class="call">
            <h3>
              ${
                call.purpose === 'agent' ? 'Agent call' : 'Test call'
              } ${callBadge(call)} ${timeView(call.createdAt, now)}
            </h3>
            <h4>Request</h4>
            ${requestView(tool, call)}
            <h4>Response</h4>
            ${responseView(call, MAX_SHOWN_CHARACTERS)}
            ${
              isComplete(call)
                ? null
                : html`<p><a href=${`/tools/${tool.id}?call=${call.id}`}>Reload</a></p>`
            }
          </article>
        `
    }
  </div>
`;

function requestView(tool: Tool, call: ToolCall): View {
  const request = showRequest(tool, call);
  if (request === 'changed')
    return html`
      <p class="muted">The tool has changed since this call, so its request cannot be shown.</p>
    `;
  if (request === 'not_made')
    return html`
      <p class="muted">Nothing was sent: these arguments do not make a valid request.</p>
    `;
  const lines = [
    `${request.method} ${request.url}`,
    ...request.headers.map(([name, value]) => `${name}: ${value}`),
    ...(request.body === null ? [] : ['', request.body]),
  ];
  return html`
    <pre tabindex="0" role="group" aria-label="Request"><code>${cut(lines.join('\n'))}</code></pre>
    <p class="muted">
      ${
        tool.kind === 'Webhook'
          ? 'Signatures are shortened. Each attempt has its own signature and time.'
          : 'Secrets are shown as [secret].'
      }
    </p>
  `;
}

const cut = (text: string) => shorten(text, MAX_SHOWN_CHARACTERS);

/** The attempts of a call, and its result or error. */
function responseView(call: ToolCall, maxCharacters: number): View {
  const { status, httpStatus, durationMs, attempts, isUnderWay } = call;
  if (status === 'pending_approval') return html`<p>Waiting for a person’s decision.</p>`;
  const facts = [
    httpStatus === null ? null : `HTTP ${httpStatus}`,
    `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    attempts === 0 || (isUnderWay && attempts === 1) ? null : `${durationMs} ms`,
  ].filter((fact) => fact !== null);
  return html`
    <p>
      ${status === 'running' ? html`<span aria-busy="true">Running</span>, ` : null}
      ${facts.join(', ')}
    </p>
    ${call.error === null ? null : html`<p class="problem">${call.error.message}</p>`}
    ${
      status === 'succeeded'
        ? html`
            <pre tabindex="0" role="group" aria-label="Result">
              <code>${jsonExcerpt(resultBeginning(call), maxCharacters)}</code>
            </pre>
          `
        : null
    }
    ${call.decision === null ? null : decisionView(call.decision)}
  `;
}

const decisionView = ({ approved, by, note }: NonNullable<ToolCall['decision']>): View => html`
  <p>${approved ? 'Approved' : 'Rejected'} by ${by.name}${note === null ? null : `: ${note}`}</p>
`;

const PURPOSES = {
  agent: 'by the agent',
  test: 'test call',
  go_live: 'test call before going live',
} as const;

/** The newest calls, each folded. */
export const recentCalls = (tool: Tool, calls: readonly ToolCall[], now: Date): View => html`
  <section id="tool-calls" aria-labelledby="calls-title">
    <h2 id="calls-title">Recent calls</h2>
    ${
      calls.length === 0
        ? html`<p class="muted">No calls yet.</p>`
        : calls.map((call) => foldedCall(tool, call, now))
    }
  </section>
`;

const foldedCall = (tool: Tool, call: ToolCall, now: Date): View => html`
  <details id=${`call-${call.id}`} class="folded-call">
    <summary>
      ${callBadge(call)} ${timeView(call.createdAt, now)} <span class="muted">
        ${PURPOSES[call.purpose]}
      </span>
    </summary>
    <h3>Arguments</h3>
    <pre tabindex="0" role="group" aria-label="Arguments">
      <code>${jsonExcerpt(call.arguments, MAX_LISTED_CHARACTERS)}</code>
    </pre>
    <h3>Response</h3>
    ${responseView(call, MAX_LISTED_CHARACTERS)}
    <p class="row">
      <a
        href=${`/tools/${tool.id}?call=${call.id}#tool-call`}
        aria-label=${`Request and response of the call ${call.id}`}
      >
        Request and response
      </a>
      ${
        call.conversationId === null
          ? null
          : html`
              <a
                href=${`/conversations/${call.conversationId}`}
                aria-label=${`Conversation of the call ${call.id}`}
              >
                Conversation
              </a>
            `
      }
    </p>
  </details>
`;

/** About how many characters quotes, commas and indentation add to a text. */
const TEXT_OVERHEAD = 4;
/** About how many characters any other value takes. */
const OTHER_VALUE_CHARACTERS = 6;

/**
 * The beginning of a value as readable JSON; a text stays as it is. Reads only about as many
 * characters as it returns, however large the value is.
 */
function jsonExcerpt(value: Json, maxCharacters: number): string {
  let left = maxCharacters;
  const cutText = (text: string): string => {
    const kept = text.slice(0, Math.max(0, left));
    left -= kept.length + TEXT_OVERHEAD;
    return kept.length === text.length ? text : `${kept.toWellFormed()}…`;
  };
  const cutList = (list: readonly Json[]): Json => {
    const kept: Json[] = [];
    for (const item of list) {
      if (left <= 0) return [...kept, '…'];
      kept.push(cutJson(item));
    }
    return kept;
  };
  const cutObject = (object: JsonObject): Json => {
    const kept: [string, Json][] = [];
    for (const name of Object.keys(object)) {
      if (left <= 0) return Object.fromEntries([...kept, ['…', '…']]);
      kept.push([cutText(name), cutJson(object[name]!)]);
    }
    return Object.fromEntries(kept);
  };
  const cutJson = (json: Json): Json => {
    if (typeof json === 'string') return cutText(json);
    left -= OTHER_VALUE_CHARACTERS;
    if (typeof json !== 'object' || json === null) return json;
    return Array.isArray(json) ? cutList(json as readonly Json[]) : cutObject(json as JsonObject);
  };
  return typeof value === 'string' ? cutText(value) : JSON.stringify(cutJson(value), null, 2);
}
