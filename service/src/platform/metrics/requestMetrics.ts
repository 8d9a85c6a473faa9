import type { Request, RequestHandler, Response } from 'express';
import { Histogram, type Registry } from 'prom-client';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Measures requests by route. Streams last as long as a page is open, so they are left out.
 * @param pages the first segments of the paths outside the API
 */
export function measureRequests(registry: Registry, pages: ReadonlySet<string>): RequestHandler {
  const duration = new Histogram({
    name: 'conversation_service_http_request_duration_seconds',
    help: 'Duration of requests, by method, route and status class (aborted: the connection closed first).',
    labelNames: ['method', 'route', 'status_class'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      if (isStream(response)) return;
      const method = METHODS.has(request.method) ? request.method : 'other';
      const status_class = response.writableFinished ? statusClass(response.statusCode) : 'aborted';
      duration.observe(
        { method, route: routeOf(request, pages), status_class },
        (performance.now() - startedAt) / 1000,
      );
    });
    next();
  };
}

const isStream = (response: Response) =>
  String(response.getHeader('content-type') ?? '').startsWith('text/event-stream');

/** One of a fixed set of names, such as `/api/hooks/:id`, so that clients cannot add time series. */
function routeOf(request: Request, pages: ReadonlySet<string>): string {
  const first = /^\/([^/?]*)/.exec(request.originalUrl)?.[1] ?? '';
  const { path } = (request.route ?? {}) as { path?: unknown };
  // A request has no route when it was refused before the router ran, or fits no endpoint.
  if (first === 'api') return typeof path === 'string' ? `/api${path}` : '/api/other';
  return first === '' || pages.has(first) ? `/${first}` : 'unknown';
}

/** `2xx`, `3xx`, `4xx`, `5xx`; `none` when no answer came. */
export const statusClass = (statusCode: number | null): string =>
  statusCode === null ? 'none' : `${Math.floor(statusCode / 100)}xx`;
