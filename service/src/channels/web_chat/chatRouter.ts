import { readFileSync } from 'node:fs';
import { Router, type Request } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { findWorkspace } from '../../team/index.ts';
import { sendPage } from '../../platform/html/html.ts';
import { pageHeaders } from '../../platform/http/server/securityHeaders.ts';
import { LANGUAGES, type Language } from '../../platform/reading/language.ts';
import { chatPage, noChatPage } from './chatPage.ts';

const EMBED_SCRIPT = readFileSync(new URL('../../platform/html/assets/embed.js', import.meta.url));
/** How long the script is cached. Its URL is part of other websites and so has no version. */
const EMBED_SECONDS = 300;

/**
 * The customers' chat page, and the script that adds it to a website.
 * @param frameOrigins the websites that may show the page in a frame
 */
export function chatRouter(deps: Deps, frameOrigins: readonly string[]): Router {
  const router = Router();

  router.get('/chat', pageHeaders(frameOrigins), async (request, response) => {
    const { workspace: slug } = request.query;
    const workspace =
      slug === undefined || typeof slug === 'string' ? await findWorkspace(deps, slug) : null;
    const language = languageOf(request);
    response.vary('Accept-Language');
    if (workspace) sendPage(response, chatPage(workspace, language));
    else sendPage(response, noChatPage(language), 404);
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

/** The language that `lang` names, else the one of the page's languages that the browser prefers. */
function languageOf(request: Request): Language {
  const named = request.query['lang'];
  const lang = typeof named === 'string' ? named.slice(0, 2).toLowerCase() : null;
  const isKnown = (each: unknown): each is Language => LANGUAGES.includes(each as Language);
  if (isKnown(lang)) return lang;
  const accepted = request.acceptsLanguages([...LANGUAGES]);
  return isKnown(accepted) ? accepted : 'en';
}
