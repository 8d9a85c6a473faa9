import { Router } from 'express';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { backLink, copyButton } from '../../platform/html/components.ts';
import { html, sendPage, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { signedInOf, type SignedIn } from '../../team/index.ts';
import { exampleWorkflows, type ExampleWorkflow } from './exampleWorkflows.ts';

/**
 * The example workflows, on one page and each as a file.
 * @param publicUrl the service's public URL, for the credential in n8n
 */
export function examplesRouter(publicUrl: () => string): Router {
  const router = Router();
  router.get('/examples', (_request, response) =>
    sendPage(response, examplesPage(signedInOf(response), publicUrl())),
  );
  router.get('/examples/:file', ({ params: { file } }, response) => {
    const example = exampleWorkflows.find(({ name }) => `${name}.json` === file);
    if (!example) throw notFound('example workflow', file);
    response.attachment(file).type('json').send(example.json);
  });
  return router;
}

const examplesPage = (signedIn: SignedIn, credentialUrl: string): View =>
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
      ${exampleWorkflows.map(exampleView)}
    `,
  );

const exampleView = ({ name, title, does, needs, json }: ExampleWorkflow): View => html`
  <article class="example" id=${name} aria-labelledby=${`${name}-title`}>
    <h2 id=${`${name}-title`}>${title}</h2>
    <p>${does}</p>
    <p class="muted">You need: ${needs}</p>
    <p class="row">
      ${copyButton(`${name}-json`, `the workflow “${title}”`)}
      <a
        href=${`/examples/${name}.json`}
        download=${`${name}.json`}
        hx-boost="false"
        aria-label=${`Download the workflow “${title}”`}
      >
        Download
      </a>
    </p>
    <details>
      <summary>Show the JSON</summary>
      <textarea
        id=${`${name}-json`}
        class="code"
        rows="12"
        readonly
        spellcheck="false"
        autocomplete="off"
        aria-label=${`The workflow “${title}” as JSON`}
      >
        ${json}
      </textarea>
    </details>
  </article>
`;
