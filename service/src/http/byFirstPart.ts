import { Router, type RequestHandler } from 'express';

/**
 * Gives each request to the handlers of the first part of its address (`hooks` of `/hooks/…`), in
 * their order, and asks no others: an address is otherwise compared with every route before its
 * own. What they do not take goes on.
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
