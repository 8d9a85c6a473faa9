import { Router } from 'express';
import { sendPage } from '../../platform/html/html.ts';
import { remember } from '../../platform/remember.ts';
import { openApiDocument } from './openapi.ts';
import type { OpenApiDocument } from './reference/document.ts';
import { referencePage } from './reference/referencePage.ts';

/** The page loads nothing but its style sheet and its icon. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** More than the reference has pages, and more than the service has public URLs. */
const MAX_REMEMBERED = 100;

/**
 * The OpenAPI document and the pages that show it. Anybody may load them, so they are made once and
 * kept in memory: the document takes 30 ms to make.
 */
export function docsRouter(publicUrl: () => string): Router {
  const router = Router();
  const docsAt = remember(MAX_REMEMBERED, (url) => {
    const document = openApiDocument(url);
    const page = remember(MAX_REMEMBERED, (slug) =>
      referencePage(document as unknown as OpenApiDocument, slug),
    );
    return { json: Buffer.from(JSON.stringify(document)), page };
  });

  router.get(
    '/openapi.json',
    (_request, response) => void response.type('json').send(docsAt(publicUrl()).json),
  );
  router.get(['/docs', '/docs/:part'], ({ params }, response, next) => {
    const { part = '' } = params as { part?: string };
    const page = docsAt(publicUrl()).page(part);
    if (page === null) return next();
    sendPage(response.set('Content-Security-Policy', POLICY), page);
  });
  return router;
}
