import { isIP } from 'node:net';
import express, { type Express } from 'express';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Bounds } from '../platform/limits/bounds.ts';
import type { ServiceMetrics } from './serviceMetrics.ts';
import { maxConnectionsOfAnAddress } from '../platform/http/server/addressBudget.ts';
import { Connections, type IsProxy } from '../platform/http/server/connections.ts';
import { commonHeaders } from '../platform/http/server/securityHeaders.ts';
import { loggablePath } from './api/paths.ts';
import { logRequests } from '../platform/http/server/logRequests.ts';
import { BodyRoom } from '../platform/http/server/readBody.ts';
import { UnreadAnswers } from '../platform/http/server/unreadAnswers.ts';

export interface BaseAppParts {
  readonly config: Config;
  readonly log: Logger;
  readonly bounds: Bounds;
  readonly metrics: ServiceMetrics;
}

/** An Express app, and the connections that its server must limit. */
export interface App {
  readonly app: Express;
  readonly connections: Connections;
}

/** The app of every process, whatever its role: request ids, logs, bounds and security headers. */
export function createBaseApp({ config, log, bounds, metrics }: BaseAppParts): App {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // Behind a trusted proxy, visitors are told apart by the address that it forwards. Anybody else
  // could forward any address.
  app.set('trust proxy', [...config.trustedProxies]);
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  const isProxy: IsProxy = (address) => isIP(address) !== 0 && trusts(address, 0);
  const connections = new Connections({
    max: maxConnectionsOfAnAddress(config.addressBudget),
    bounds,
    isProxy,
  });
  app.locals.bodyRoom = new BodyRoom(bounds);
  logRequests(app, log, bounds, loggablePath);
  app.use(metrics.requests);
  app.use(connections.admitRequest);
  app.use(new UnreadAnswers(bounds).watch);
  app.use(commonHeaders());
  return { app, connections };
}
