import type { RequestHandler } from 'express';
import { readCounts } from '../../inbox/counts.ts';
import type { Deps } from '../../platform/deps.ts';
import { signedInOf } from '../../team/signedIn.ts';

/** Gives each whole page the counts of its navigation. Parts of pages have none. */
export const noteCounts =
  (deps: Pick<Deps, 'store'>): RequestHandler =>
  async (request, response, next) => {
    const signedIn = signedInOf(response);
    const isPart =
      request.get('hx-request') !== undefined && request.get('hx-boosted') === undefined;
    if (signedIn && !isPart)
      response.locals.signedIn = { ...signedIn, counts: await readCounts(deps, signedIn) };
    next();
  };
