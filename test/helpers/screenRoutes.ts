import { screensRouter, type ScreenParts } from '../../service/src/app/screens/screensRouter.ts';

/** What this file reads of Express's routers. */
interface Route {
  readonly path: string | readonly string[];
  /** Each method that it answers; `_all` when it answers every one. */
  readonly methods: Readonly<Record<string, boolean | undefined>>;
}

interface Layer {
  readonly route?: Route;
  readonly rawPath?: unknown;
  readonly handle: { readonly stack?: readonly Layer[] };
}

/** Stands for the parts that a route uses when it is requested, which never happens here. */
const anything: object = new Proxy(() => anything, {
  get: (_parts, name) => (name === 'stack' ? undefined : anything),
});

const config = { chatFrameOrigins: [], channels: anything, payments: anything };

/** The paths of the screens that answer a POST, as registered: `/conversations/:id/reply`. */
export const listPostRoutes = (): string[] => listRoutes('post').sort();

/** The paths of the screens that answer a GET, in the order in which a request meets them. */
export const listGetRoutes = (): string[] => listRoutes('get');

function listRoutes(method: string): string[] {
  const parts = new Proxy({ config }, { get: (own, name) => Reflect.get(own, name) ?? anything });
  const screens = screensRouter(parts as unknown as ScreenParts);
  return [...new Set(routesOf(screens as unknown as Layer['handle'], method))];
}

const routesOf = ({ stack = [] }: Layer['handle'], method: string): string[] =>
  stack.flatMap(({ route, rawPath, handle }) => {
    if (route !== undefined) return answers(route, method) ? [route.path].flat() : [];
    const paths = routesOf(handle, method);
    if (paths.length > 0 && rawPath !== '/')
      throw new Error(
        `The router at ${String(rawPath)} has a path: listRoutes must put it before its routes.`,
      );
    return paths;
  });

const answers = ({ methods }: Route, method: string): boolean =>
  Boolean(methods[method] ?? methods._all);
