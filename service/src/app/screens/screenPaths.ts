/** Where the screens are. */

/** Pages and files that anyone can request. */
export const PUBLIC_PATHS = ['/assets', '/chat', '/setup', '/sign-in', '/join', '/reset-password'];

/** Pages, and the stream at `/live`, that only members can request. */
export const MEMBER_PATHS = [
  '/overview',
  '/conversations',
  '/contacts',
  '/waiting',
  '/waits',
  '/tools',
  '/agent',
  '/channels',
  '/payments',
  '/keys',
  '/examples',
  '/team',
  '/settings',
  '/account',
  '/live',
];

/** Pages and forms of signing in and out. Some are public pages too. */
export const SIGN_IN_PATHS = [
  '/setup',
  '/sign-in',
  '/sign-out',
  '/sign-out-everywhere',
  '/join',
  '/reset-password',
];

/** The first segment of each path, by which logs and metrics know a screen. */
export const SCREENS: ReadonlySet<string> = new Set(
  [...PUBLIC_PATHS, ...SIGN_IN_PATHS, ...MEMBER_PATHS].map((path) => path.slice(1)),
);
