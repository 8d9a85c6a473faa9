import { Router, type Request } from 'express';
import ipaddr from 'ipaddr.js';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import type { ServiceMetrics } from '../serviceMetrics.ts';
import { isSameText } from '../../platform/security/tokens.ts';
import { bearer } from '../../team/authentication.ts';

/**
 * Serves `/metrics` in Prometheus' text format. With METRICS_TOKEN set, callers must send it. Without
 * it, only programs on this machine that connect directly can read metrics.
 * @throws unauthorized (401)
 * @see docs/decisions/0024-who-may-read-metrics.md
 */
export function metricsRouter({ read }: ServiceMetrics, token: string | null): Router {
  const router = Router();
  router.get('/metrics', async (request, response) => {
    assertAllowed(request, token);
    const { contentType, text } = await read();
    response.set('Cache-Control', 'no-store').type(contentType).send(text);
  });
  return router;
}

function assertAllowed(request: Request, token: string | null): void {
  if (token === null) {
    if (!isFromThisMachine(request))
      throw new AppError(
        'unauthorized',
        'Without METRICS_TOKEN, only programs on this machine can read metrics. Set METRICS_TOKEN for the service, and send it as `Authorization: Bearer …`.',
      );
    return;
  }
  const given = bearer(request);
  if (given !== null && isSameText(given, token)) return;
  request.res?.setHeader('WWW-Authenticate', 'Bearer');
  throw new AppError(
    'unauthorized',
    `${given === null ? 'The request carries no token.' : 'The token is wrong.'} Send METRICS_TOKEN as \`Authorization: Bearer …\`.`,
  );
}

/** Headers that proxies add. Their client may be on another machine. */
const PROXY_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/**
 * The Host header is checked too: a page from elsewhere whose name resolves to this machine sends
 * that name (DNS rebinding).
 */
function isFromThisMachine({ socket, headers }: Request): boolean {
  const { hostname = '' } = URL.parse(`http://${headers.host}`) ?? {};
  const isHere =
    isLoopback(socket.remoteAddress ?? '') &&
    (hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, '')));
  return isHere && PROXY_HEADERS.every((name) => headers[name] === undefined);
}

const isLoopback = (address: string) =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
