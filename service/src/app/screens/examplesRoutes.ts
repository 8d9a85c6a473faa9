import { Router } from 'express';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { sendPage } from '../../platform/html/html.ts';
import { signedInOf } from '../../team/index.ts';
import { examplesPage } from './examplesPage.ts';
import { exampleWorkflows } from './exampleWorkflows.ts';

/**
 * The example workflows, on one page and each as a file.
 * @param publicUrl the service's public URL, for the credential in n8n
 */
export function examplesRouter(publicUrl: () => string): Router {
  const router = Router();
  router.get('/examples', (_request, response) =>
    sendPage(response, examplesPage(signedInOf(response), exampleWorkflows, publicUrl())),
  );
  router.get('/examples/:file', ({ params: { file } }, response) => {
    const example = exampleWorkflows.find(({ name }) => `${name}.json` === file);
    if (!example) throw notFound('example workflow', file);
    response.attachment(file).type('json').send(example.json);
  });
  return router;
}
