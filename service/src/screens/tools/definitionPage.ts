import type { SignedIn } from '../../domain/operations/findSession.ts';
import { MAX_EXAMPLE_PHRASES, MAX_TOOL_TIMEOUT_SECONDS, type Tool } from '../../domain/tool.ts';
import { field, formProblem, textArea, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { kindOf } from './definitionForm.ts';
import { checkbox, problemNote } from './inputs.ts';
import { parametersSection } from './parameterFields.ts';
import { requestSection } from './requestFields.ts';

export interface DefinitionPage {
  /** Null for a new one. */
  readonly tool: Tool | null;
  readonly values: FormValues;
  readonly problems?: Problems;
  /** A row of parameters was added just now. */
  readonly added?: boolean;
}

/** The form for both kinds of tools. */
export function definitionPage(
  signedIn: SignedIn,
  { tool, values, problems = {}, added = false }: DefinitionPage,
): View {
  const title = tool === null ? 'New tool' : `Edit ${tool.name}`;
  const action = tool === null ? '/tools' : `/tools/${tool.id}`;
  const hasProblems = Object.keys(problems).length > 0;
  return teamPage(
    signedIn,
    { title, section: 'tools' },
    html`
      <h1>${title}</h1>
      ${formProblem(problems.form ?? (hasProblems ? 'Correct what is marked below.' : undefined))}
      ${tool !== null && tool.status !== 'draft' ? html`<p class="notice">This tool is ${tool.status}. A change to its name, parameters, address, request or secrets makes it a draft that has to be tested again; the rest can change while it is ${tool.status}.</p>` : null}
      <form class="definition" method="post" action=${action}>
        ${csrfField(signedIn)}
        <button class="enter" name="do" value="save" tabindex="-1" aria-hidden="true">Save</button>
        ${kindPart(tool, values, problems)}
        ${field({ name: 'name', label: 'Name', values, problems, help: 'Lower-case letters, digits and _, as the agent calls it.', attributes: { required: true, maxlength: 64, autocomplete: 'off', spellcheck: 'false', placeholder: 'find_order' } })}
        ${textArea({ name: 'description', label: 'Description', values, problems, help: 'The agent decides from it when to call the tool.', attributes: { required: true, rows: 2, maxlength: 1024, placeholder: 'Finds an order by its number and says where it is.' } })}
        ${textArea({ name: 'example_phrases', label: 'Example phrases', values, problems, help: `What customers write when they want this tool, one a line, at most ${MAX_EXAMPLE_PHRASES}.`, attributes: { rows: 3, placeholder: 'where is my order\nhas my package left' } })}
        ${parametersSection(values, problems, { action, added })}
        ${tool === null || tool.kind === 'Webhook' ? html`<div class="for-webhook">${endpointSection(values, problems)}</div>` : null}
        ${tool === null || tool.kind === 'HTTP' ? html`<div class="for-http">${requestSection(values, problems, action)}</div>` : null}
        ${runSection(values, problems)}
        <div class="row">
          <button name="do" value="save">${tool === null ? 'Create the tool' : 'Save'}</button>
          <a href=${tool === null ? '/tools' : `/tools/${tool.id}`}>Cancel</a>
        </div>
      </form>
    `,
  );
}

const KINDS = [
  [
    'Webhook',
    'Webhook',
    'Your system gets a signed POST and answers with JSON: an n8n workflow, or a small endpoint of your own.',
  ],
  ['HTTP', 'HTTP', 'An existing API is called in its own shape, by a request template.'],
] as const;

/** The kind of a tool stays. */
const kindPart = (tool: Tool | null, values: FormValues, problems: Problems): View =>
  tool !== null
    ? html`<p>Kind: <strong>${tool.kind}</strong></p>`
    : html`
        <fieldset class="kinds">
          <legend>Kind</legend>
          ${KINDS.map(
            ([kind, label, words]) => html`
              <label for=${`f-kind-${kind}`}><input type="radio" id=${`f-kind-${kind}`} name="kind" value=${kind} checked=${kindOf(values) === kind} aria-describedby=${`h-kind-${kind}`} /> ${label}</label>
              <small id=${`h-kind-${kind}`}>${words}</small>
            `,
          )}
          ${problemNote('kind', problems)}
        </fieldset>
      `;

const endpointSection = (values: FormValues, problems: Problems): View => html`
  <section aria-labelledby="endpoint-title">
    <h2 id="endpoint-title">Endpoint</h2>
    ${field({ name: 'endpoint', label: 'Address', values, problems, help: 'https:// and publicly reachable. Each call is signed; the signing secret is shown once, when the tool is created.', attributes: { maxlength: 2048, autocomplete: 'off', spellcheck: 'false', placeholder: 'https://n8n.example.com/webhook/…' } })}
  </section>
`;

const runSection = (values: FormValues, problems: Problems): View => html`
  <section aria-labelledby="run-title">
    <h2 id="run-title">When it runs</h2>
    ${field({ name: 'timeout', label: 'Time-out in seconds', values, problems, help: `For one attempt, 1 to ${MAX_TOOL_TIMEOUT_SECONDS}; there are three attempts at most.`, attributes: { type: 'number', min: 1, max: MAX_TOOL_TIMEOUT_SECONDS, step: 'any', required: true } })}
    ${checkbox({ name: 'read_only', label: 'Read only: it looks something up and changes nothing; the keyword agent calls it without asking the customer first', values, attributes: { role: 'switch' } })}
    ${checkbox({ name: 'ask', label: 'Ask before running: a person of the team approves each call before it is made', values, attributes: { role: 'switch' } })}
  </section>
`;
