import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { Router } from 'express';
import { openApiDocument } from '../openapi.ts';

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

/** The API's document and a page that shows it; everything is served from here. */
export function docsRouter(publicUrl: () => string): Router {
  const router = Router();
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  router.get('/openapi.json', (_request, response) => void response.json(openApiDocument(publicUrl())));
  router.get('/docs', (request, response) => {
    // With a slash at the end the relative addresses of the page would point elsewhere.
    if (request.originalUrl.endsWith('/')) response.redirect(308, '../docs');
    else response.type('html').send(PAGE);
  });
  router.get('/docs/start.js', (_request, response) => void response.type('js').send(START));
  router.use('/docs/assets', express.static(assets, { index: false, maxAge: '1h' }));
  return router;
}
