// Axe looks at every page: each route that answers one is in SCREEN_STATES or among the exceptions.
import { expect, it } from '@jest/globals';
import { SCREEN_STATES, type ScreenContent } from '../../../browser/screenStates.ts';
import { listGetRoutes } from '../../../helpers/screenRoutes.ts';

/** The routes that no state stands for, by the reason. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'Leads to another page.': [
    ...['/', '/conversations/next-waiting', '/waiting/next'],
    ...['/tools/:id/:action', '/agent/:action', '/channels/:id/:action'],
    ...['/payments/providers/:provider/:action', '/team/*action', '/account/:action'],
    ...['/keys/subscriptions', '/keys/:id/revoke', '/keys/:id/edit', '/settings/n8n'],
    '/keys/subscriptions/:id/:action',
    ...['curl', 'redeliver'].map(
      (verb) => `/keys/subscriptions/:id/deliveries/:deliveryId/${verb}`,
    ),
  ],
  'Answers a part of a page, which is looked at with the page.': [
    ...['list', 'count', 'alerts'].map((part) => `/conversations/${part}`),
    ...['assignment', 'panel', 'head', 'items', 'composer-note', 'presence'].map(
      (part) => `/conversations/:id/${part}`,
    ),
    ...['/contacts/:id/forgotten/list', '/waiting/fragment', '/waiting/count'],
    ...['/waits/:id', '/tools', '/tools/:id', '/agent', '/channels', '/channels/:id'].map(
      (page) => `${page}/fragment`,
    ),
    ...['/payments/links', '/payments/providers-list'],
    ...['/keys/live/subscriptions', '/keys/live/api-keys'],
    ...['state', 'deliveries'].map((part) => `/keys/subscriptions/:id/live/${part}`),
    '/keys/subscriptions/:id/deliveries/:deliveryId/live',
  ],
  'Answers a file or a stream.': ['/assets/:name', '/chat/embed.js', '/live', '/examples/:file'],
  'Needs a service without a team: accessibility.test.ts looks at it by itself.': ['/setup'],
};

/** Content whose every id is `some`, and whose every path is right. */
const content = new Proxy({} as ScreenContent, {
  get: (_, name) =>
    ({
      payPath: '/pay/some',
      joinPath: '/join?token=some',
      resetPath: '/reset-password?token=some',
    })[String(name)] ?? 'some',
});

const routes = listGetRoutes();
const fits = (route: string, path: string): boolean =>
  new RegExp(`^${route.replace(/\*\w+/g, '.+').replace(/:\w+/g, '[^/]+')}$`).test(path);
const [pathsOfStates, routesLedTo] = [
  SCREEN_STATES.map((state) => state.path(content).replace(/\?.*/, '')),
  SCREEN_STATES.flatMap(({ leadsTo = [] }) => leadsTo),
];
const routesOfStates = new Set([
  ...pathsOfStates.map((path) => routes.find((route) => fits(route, path))),
  ...routesLedTo,
]);

it('each route that answers a GET is a state that axe looks at, or an exception', () => {
  const excepted = Object.values(EXCEPTIONS).flat();
  const unknown = routes.filter((route) => !routesOfStates.has(route) && !excepted.includes(route));
  expect(unknown).toEqual([]);
  expect(excepted.filter((route) => !routes.includes(route))).toEqual([]);
  expect(excepted.filter((route) => routesOfStates.has(route))).toEqual([]);
  expect(routesLedTo.filter((route) => !routes.includes(route))).toEqual([]);
});
