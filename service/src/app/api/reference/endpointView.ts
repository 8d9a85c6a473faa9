import { html, type View } from '../../../platform/html/html.ts';
import type { Content, Endpoint, OperationObject } from './document.ts';
import { fieldsView, fieldView, prose, typeView } from './schemaView.ts';

/** One endpoint, or one event: what goes in, what comes back, what can go wrong. */
export const endpointView = ({ method, path, operation }: Endpoint): View => {
  const { operationId, summary, description } = operation;
  return html`
    <section class="endpoint" aria-labelledby=${operationId}>
      <h2 id=${operationId}>${summary}</h2>
      <p class="address">
        ${
          method === null ? null : html`<b class=${`method ${method.toLowerCase()}`}>${method}</b>`
        } <code>${path}</code>
      </p>
      ${description === undefined ? null : html`<p>${prose(description)}</p>`}
      ${method === null ? null : html`<p class="muted">${callerOf(operation)}</p>`}
      ${parametersView(operation)}
      ${bodyView(operation)}
      ${Object.entries(operation.responses).map(([status, { description: words, content }]) =>
        answerView(operation, status, words, content),
      )}
      ${errorsView(operation)}
    </section>
  `;
};

const CALLERS: Readonly<Record<string, string>> = {
  key: 'Needs an API key: Authorization: Bearer cs_live_…',
  chat: 'Needs a visitor’s chat token, from POST /api/chat/sessions.',
};

const callerOf = ({ security }: OperationObject): string =>
  CALLERS[Object.keys(security[0] ?? {})[0] ?? ''] ?? 'Anybody may call it.';

const PLACES = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers'],
] as const;

const parametersView = ({ parameters }: OperationObject): View =>
  PLACES.map(([place, title]) => {
    const all = parameters.filter((each) => each.in === place);
    return all.length === 0
      ? null
      : html`
          <h3>${title}</h3>
          <dl class="fields">
            ${all.map(({ name, schema, required = false, description }) =>
              fieldView(
                name,
                { ...schema, description: description ?? schema.description },
                required,
              ),
            )}
          </dl>
        `;
  });

function bodyView({ requestBody }: OperationObject): View {
  if (!requestBody) return null;
  return Object.values(requestBody.content).map(
    (content) => html`<h3>Body</h3>${fieldsView(content.schema)}${exampleView(content)}`,
  );
}

/**
 * An answer without content, such as a receiver's to an event, is one line. Errors are left out:
 * they have a list of their own.
 */
function answerView(
  { operationId }: OperationObject,
  status: string,
  words: string,
  content: Readonly<Record<string, Content>> | undefined,
): View {
  if (content === undefined) return html`<p><b>Answer ${status}</b> ${words}</p>`;
  if (!status.startsWith('2')) return null;
  return Object.entries(content).map(
    ([type, each]) => html`
      <h3 id=${`${operationId}-${status}`}>Answer ${status}</h3>
      <div>
        <span class="muted">${type}:</span> ${
          each.schema.properties ? fieldsView(each.schema) : typeView(each.schema)
        }
      </div>
      ${exampleView(each)}
    `,
  );
}

const exampleView = ({ schema, example = schema.example }: Content): View =>
  example === undefined
    ? null
    : html`
        <p class="example-title muted">Example</p>
        <pre><code>${
          typeof example === 'string' ? example : JSON.stringify(example, null, 2)
        }</code></pre>
      `;

function errorsView({ responses }: OperationObject): View {
  const errors = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.values(content).flatMap(({ examples = {} }) =>
      Object.values(examples).map(({ value: { error } }) => ({ status, ...error })),
    ),
  );
  if (errors.length === 0) return null;
  return html`
    <h3>Errors</h3>
    <dl class="fields errors">
      ${errors.map(
        ({ status, code, message }) => html`
          <div>
            <dt>${status} <code>${code}</code></dt>
            <dd>${message}</dd>
          </div>
        `,
      )}
    </dl>
  `;
}
