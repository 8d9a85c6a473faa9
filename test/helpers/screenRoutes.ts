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

/** Stands for the parts that a route uses once it is requested. Here no route is. */
const anything: object = new Proxy(() => anything, {
  get: (_parts, name) => (name === 'stack' ? undefined : anything),
});

const config = { chatFrameOrigins: [], channels: anything, payments: anything };

/** The paths of the screens that answer a POST, as registered: `/conversations/:id/reply`. */
export function listPostRoutes(): string[] {
  const parts = new Proxy({ config }, { get: (own, name) => Reflect.get(own, name) ?? anything });
  const screens = screensRouter(parts as unknown as ScreenParts);
  return [...new Set(postRoutesOf(screens as unknown as Layer['handle']))].sort();
}

const postRoutesOf = ({ stack = [] }: Layer['handle']): string[] =>
  stack.flatMap(({ route, rawPath, handle }) => {
    if (route !== undefined) return answersPost(route) ? [route.path].flat() : [];
    const paths = postRoutesOf(handle);
    if (paths.length > 0 && rawPath !== '/')
      throw new Error(`List the routes of the router at ${String(rawPath)} with that path.`);
    return paths;
  });

const answersPost = ({ methods }: Route): boolean => Boolean(methods.post ?? methods._all);
