import { Router, type RequestHandler } from 'express';

/**
 * Routes each request by the first part of its path (`hooks` of `/hooks/…`) to the handlers of that
 * part, in their order. Otherwise Express compares a path with every route before its own. What these
 * handlers do not answer goes on.
 */
export function byFirstPart(
  handlersOf: Readonly<Record<string, readonly RequestHandler[]>>,
): RequestHandler {
  const routers = new Map(
    Object.entries(handlersOf).map(([part, handlers]) => [part, Router().use(...handlers)]),
  );
  return (request, response, next) => {
    const part = FIRST_PART.exec(request.url)?.[1] ?? '';
    const router = routers.get(part.toLowerCase());
    if (router === undefined) next();
    else router(request, response, next);
  };
}

const FIRST_PART = /^\/([^/?]*)/;
