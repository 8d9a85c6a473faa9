import type { SignedIn } from '../../team/index.ts';
import { backLink, copyButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import type { ExampleWorkflow } from './exampleWorkflows.ts';

/** Workflows to paste into n8n. */
export const examplesPage = (
  signedIn: SignedIn,
  examples: readonly ExampleWorkflow[],
  credentialUrl: string,
): View =>
  teamPage(
    signedIn,
    { title: 'Example workflows', section: 'keys' },
    html`
      ${backLink('/keys', 'Keys and subscriptions')}
      <h1>Example workflows for n8n</h1>
      <p>Each works as it is, and its notes say what to change. To use one:</p>
      <ol>
        <li>Press <strong>Copy</strong>. In n8n, create a workflow, click its empty canvas, and paste with Ctrl+V or ⌘V.</li>
        <li>Open a node with the Conversation Service logo, and choose your credential, or create one with a <a href="/keys">key</a> and the base URL <code>${credentialUrl}</code>. Choose it in the others too.</li>
        <li>Read the yellow notes, then <strong>Publish</strong>.</li>
      </ol>
      ${examples.map(exampleView)}
    `,
  );

const exampleView = ({ name, title, does, needs, json }: ExampleWorkflow): View => html`
  <article class="example" id=${name} aria-labelledby=${`${name}-title`}>
    <h2 id=${`${name}-title`}>${title}</h2>
    <p>${does}</p>
    <p class="muted">You need: ${needs}</p>
    <p class="row">
      ${copyButton(`${name}-json`, `the workflow “${title}”`)}
      <a href=${`/examples/${name}.json`} download=${`${name}.json`} hx-boost="false" aria-label=${`Download the workflow “${title}”`}>Download</a>
    </p>
    <details>
      <summary>Show the JSON</summary>
      <textarea id=${`${name}-json`} class="code" rows="12" readonly spellcheck="false" autocomplete="off" aria-label=${`The workflow “${title}” as JSON`}>${json}</textarea>
    </details>
  </article>
`;
