import type { Deps } from '../platform/deps.ts';
import { addressBudget } from '../platform/http/server/addressBudget.ts';
import { type ApiParts, apiRouter } from './api/apiRouter.ts';
import { type App, type BaseAppParts, createBaseApp } from './baseApp.ts';
import { handleErrors, refuseOnWorker } from '../platform/http/errors.ts';
import { refuseUnknown } from './api/paths.ts';
import { RequestTurns } from '../platform/http/server/requestTurns.ts';
import { type Health, healthRouter } from './api/health.ts';
import { metricsRouter } from './api/metricsRoute.ts';
import type { ConnectionShares } from '../platform/limits/connectionShares.ts';
import type { Limiters } from '../platform/limits/limiter.ts';
import type { ScreenModel } from '../agent/screens/agentRoutes.ts';
import type { LiveFeed } from './screens/liveFeed.ts';
import { type ScreenParts, screensRouter } from './screens/screensRouter.ts';
import type { Setup } from '../team/screens/setup.ts';

interface WorkerAppParts extends BaseAppParts {
  readonly health: Health;
  /** Ends open streams. */
  readonly stopping: AbortSignal;
}

/** The app of a worker: health and metrics, and nothing else. */
export function createWorkerApp(parts: WorkerAppParts): App {
  const { app, connections } = createBaseApp(parts);
  app.use(operatorRouters(parts), refuseOnWorker, handleErrors);
  return { app, connections };
}

interface AppParts extends Omit<WorkerAppParts, 'bounds'> {
  readonly deps: Deps;
  /** Count requests, and attempts to sign in. */
  readonly limiters: Limiters;
  readonly chatFeed: ApiParts['chatFeed'];
  readonly followToolCall: ApiParts['followToolCall'];
  readonly followPayment: ApiParts['followPayment'];
  readonly model: ScreenModel;
  readonly live: LiveFeed;
  readonly setup: Setup;
  readonly n8n: ScreenParts['n8n'];
  /** Shares the connections to the database between workspaces; null for the embedded store. */
  readonly connectionShares: ConnectionShares | null;
}

/** The app of a process that answers requests: API, screens and the chat page. */
export function createApp(parts: AppParts): App {
  const { bounds } = parts.deps;
  const { app, connections } = createBaseApp({ ...parts, bounds });
  app.locals.connectionShares = parts.connectionShares;
  const counting = { limiters: parts.limiters, bounds };
  const budget = addressBudget(counting, parts.config.addressBudget);
  const turns = new RequestTurns(bounds);
  app.use(
    '/api',
    apiRouter({
      ...parts,
      counting,
      budget,
      turns,
      model: { name: parts.model.name, decidedBy: parts.model.model.decidedBy },
      waits: parts.metrics.waits,
    }),
  );
  app.use(operatorRouters(parts));
  app.use(screensRouter({ ...parts, budget, turns }));
  app.use(refuseUnknown, handleErrors);
  return { app, connections };
}

type OperatorParts = Pick<WorkerAppParts, 'config' | 'health' | 'metrics' | 'stopping'>;

const operatorRouters = ({ config, health, metrics, stopping }: OperatorParts) => [
  healthRouter(health, stopping),
  metricsRouter(metrics, config.metricsToken),
];
