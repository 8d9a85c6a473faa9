import { readFileSync } from 'node:fs';
import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { findWorkspace } from '../../team/index.ts';
import { sendPage } from '../../platform/html/html.ts';
import { securityHeaders } from '../../platform/http/server/securityHeaders.ts';
import { chatPage, noChatPage } from './chatPage.ts';

const EMBED_SCRIPT = readFileSync(new URL('../../platform/html/assets/embed.js', import.meta.url));
/** Its URL has no version, because it is part of other websites. */
const EMBED_SECONDS = 300;

/**
 * The customers' chat page, and the script that adds it to a website.
 * @param frameOrigins the websites that may show it in a frame
 */
export function chatRouter(deps: Deps, frameOrigins: readonly string[]): Router {
  const router = Router();

  router.get('/chat', securityHeaders(frameOrigins), async (request, response) => {
    const { workspace: slug } = request.query;
    const workspace =
      slug === undefined || typeof slug === 'string' ? await findWorkspace(deps, slug) : null;
    if (workspace) sendPage(response, chatPage(workspace));
    else sendPage(response, noChatPage, 404);
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
