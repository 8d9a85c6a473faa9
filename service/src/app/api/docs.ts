import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Router, type Response } from 'express';
import { openApiDocument } from './openapi.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conversation Service API</title>
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#docs', deepLinking: true });\n`;

/** The files of swagger-ui-dist that the page loads. */
const ASSETS = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' } as const;
const ASSET_SECONDS = 3600;

/**
 * The OpenAPI document and a page that shows it, without any other server. Anybody may load them, so
 * they are made once and kept in memory: the document takes 30 ms to make.
 */
export function docsRouter(publicUrl: () => string): Router {
  const router = Router();
  const { resolve } = createRequire(import.meta.url);
  const document = madeOnce((url: string) => Buffer.from(JSON.stringify(openApiDocument(url))));
  const asset = madeOnce((name: string) => readFileSync(resolve(`swagger-ui-dist/${name}`)));

  router.get(
    '/openapi.json',
    (_request, response) => void response.type('json').send(document(publicUrl())),
  );
  router.get('/docs', (request, response) => {
    // With a slash at the end, the relative addresses of the page would be wrong.
    if (request.originalUrl.endsWith('/')) response.redirect(308, '../docs');
    else response.type('html').send(PAGE);
  });
  router.get('/docs/start.js', (_request, response) => void response.type('js').send(START));
  for (const [name, type] of Object.entries(ASSETS)) {
    router.get(`/docs/assets/${name}`, (_request, response: Response) => {
      response
        .set('Cache-Control', `public, max-age=${ASSET_SECONDS}`)
        .type(type)
        .send(asset(name));
    });
  }
  return router;
}

/** Remembers the result for each text. There are only a few. */
function madeOnce<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const known = made.get(text) ?? make(text);
    made.set(text, known);
    return known;
  };
}
