import type { SignedIn } from '../../team/index.ts';
import { MAX_EXAMPLE_PHRASES, MAX_TOOL_TIMEOUT_SECONDS, type Tool } from '../tool.ts';
import { csrfField } from '../../platform/html/components.ts';
import {
  checkbox,
  field,
  fieldProblem,
  formProblems,
  radio,
  textArea,
  type FormState,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { parametersSection } from './parameterFields.ts';
import { requestSection } from './requestFields.ts';

export interface DefinitionPage {
  /** Null for a new tool. */
  readonly tool: Tool | null;
  readonly form: FormState;
  /** Whether a parameter was just added. */
  readonly added?: boolean;
}

/** The form for both kinds of tools. */
export function definitionPage(
  signedIn: SignedIn,
  { tool, form, added = false }: DefinitionPage,
): View {
  const title = tool === null ? 'New tool' : `Edit ${tool.name}`;
  const action = tool === null ? '/tools' : `/tools/${tool.id}`;
  return teamPage(
    signedIn,
    { title, section: 'tools' },
    html`
      <h1>${title}</h1>
      ${formProblems(form)}
      ${tool !== null && tool.status !== 'draft' ? draftWarning(tool) : null}
      <form class="definition" method="post" action=${action}>
        ${csrfField(signedIn)}
        <button class="enter" name="do" value="save" tabindex="-1" aria-hidden="true">Save</button>
        ${kindFields(tool, form)}
        ${nameFields(form)}
        ${parametersSection(form, { action, added })}
        ${
          tool === null || tool.kind === 'Webhook'
            ? html`<div class="for-webhook">${endpointSection(form)}</div>`
            : null
        }
        ${
          tool === null || tool.kind === 'HTTP'
            ? html`<div class="for-http">${requestSection(form, action)}</div>`
            : null
        }
        ${runSection(form)}
        <div class="row">
          <button name="do" value="save">${tool === null ? 'Create tool' : 'Save'}</button>
          <a href=${action}>Cancel</a>
        </div>
      </form>
    `,
  );
}

const draftWarning = ({ status }: Tool): View => html`
  <p class="notice">
    This tool is ${status}. If you change its name, parameters, URL, request or secrets, it becomes a
    draft and has to be tested again. You can change the rest while it is ${status}.
  </p>
`;

const KINDS = [
  {
    kind: 'Webhook',
    help: 'Your system receives a signed POST and responds with JSON: an n8n workflow, or an endpoint of your own.',
  },
  { kind: 'HTTP', help: 'Calls an existing API with a request that you define.' },
] as const;

/** The kind of a tool cannot change. */
const kindFields = (tool: Tool | null, form: FormState): View =>
  tool !== null
    ? html`<p>Kind: <strong>${tool.kind}</strong></p>`
    : html`
        <fieldset class="kinds">
          <legend>Kind</legend>
          ${KINDS.map(
            ({ kind, help }) => html`
              ${radio({
                name: 'kind',
                value: kind,
                label: kind,
                form,
                attributes: { 'aria-describedby': `h-kind-${kind}` },
              })}
              <small id=${`h-kind-${kind}`}>${help}</small>
            `,
          )}
          ${fieldProblem('kind', form)}
        </fieldset>
      `;

const nameFields = (form: FormState): View => html`
  ${field({
    name: 'name',
    label: 'Name',
    form,
    help: 'The name that the agent uses: lowercase letters, digits and _.',
    attributes: {
      required: true,
      maxlength: 64,
      autocomplete: 'off',
      spellcheck: 'false',
      placeholder: 'find_order',
    },
  })}
  ${textArea({
    name: 'description',
    label: 'Description',
    form,
    help: 'Tells the agent when to call the tool.',
    attributes: {
      required: true,
      rows: 2,
      maxlength: 1024,
      placeholder: 'Finds an order by its number and says where it is.',
    },
  })}
  ${textArea({
    name: 'example_phrases',
    label: 'Example phrases',
    form,
    help: `What customers write when they want this tool. One per line, at most ${MAX_EXAMPLE_PHRASES}.`,
    attributes: { rows: 3, placeholder: 'where is my order\nhas my package left' },
  })}
`;

const endpointSection = (form: FormState): View => html`
  <section aria-labelledby="endpoint-title">
    <h2 id="endpoint-title">Endpoint</h2>
    ${field({
      name: 'endpoint',
      label: 'Endpoint URL',
      form,
      help: 'A public https:// URL. Each call is signed. You see the signing secret once, when you create the tool.',
      attributes: {
        maxlength: 2048,
        autocomplete: 'off',
        spellcheck: 'false',
        placeholder: 'https://n8n.example.com/webhook/…',
      },
    })}
  </section>
`;

const runSection = (form: FormState): View => html`
  <section aria-labelledby="run-title">
    <h2 id="run-title">Execution</h2>
    ${field({
      name: 'timeout',
      label: 'Timeout in seconds',
      form,
      help: `For each attempt, from 1 to ${MAX_TOOL_TIMEOUT_SECONDS}. A call has at most three attempts.`,
      attributes: {
        type: 'number',
        min: 1,
        max: MAX_TOOL_TIMEOUT_SECONDS,
        step: 'any',
        required: true,
      },
    })}
    ${checkbox({
      name: 'read_only',
      label:
        'Read only: the tool looks something up and changes nothing. The keyword agent calls it without asking the customer first.',
      form,
      attributes: { role: 'switch' },
    })}
    ${checkbox({
      name: 'ask',
      label: 'Ask before running: a member of your team approves each call.',
      form,
      attributes: { role: 'switch' },
    })}
  </section>
`;
