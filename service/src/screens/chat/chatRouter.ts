import { readFileSync } from 'node:fs';
import { Router } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { findWorkspace } from '../../domain/operations/findWorkspace.ts';
import { renderDocument } from '../html.ts';
import { securityHeaders } from '../securityHeaders.ts';
import { chatPage, noChatPage } from './chatPage.ts';

const EMBED_SCRIPT = readFileSync(new URL('../assets/embed.js', import.meta.url));
/** Its address carries no version: it stands in the shops' pages. */
const EMBED_SECONDS = 300;

/**
 * What customers see: the chat page, and the script that puts it into a shop's page.
 * @param frameOrigins whose pages may show it in a frame; of the service's pages this one alone
 */
export function chatRouter(deps: Deps, frameOrigins: readonly string[]): Router {
  const router = Router();

  router.get('/chat', securityHeaders(frameOrigins), async (request, response) => {
    const { workspace: slug } = request.query;
    const workspace =
      slug === undefined || typeof slug === 'string' ? await findWorkspace(deps, slug) : null;
    response
      .status(workspace ? 200 : 404)
      .type('html')
      .send(renderDocument(workspace ? chatPage(workspace) : noChatPage));
  });

  router.get('/chat/embed.js', (_request, response) => {
    response
      .set({
        'Access-Control-Allow-Origin': '*',
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'Cache-Control': `public, max-age=${EMBED_SECONDS}`,
      })
      .type('text/javascript')
      .send(EMBED_SCRIPT);
  });

  return router;
}
