import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { HostGuard, ResolvedAddress } from './hostGuard.ts';
import type { Target } from './targetUrl.ts';

/** A connection being opened: the host's name is looked up, then an address is dialled. */
export interface Opening {
  /** Gives up. The callback gets the reason. */
  destroy(reason: Error): void;
}

/** Opens a connection, but only to addresses that were checked. */
export type Connect = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => Opening;

/** Returns the function that opens the connections of a workspace. */
export type GuardedConnector = (workspaceId: string) => Connect;

// undici's connector returns the socket, although its type does not say so.
type Dial = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

/** The addresses that were checked for the connection that is being dialled. */
const checked = new AsyncLocalStorage<readonly ResolvedAddress[]>();

/**
 * Gives the socket the addresses that were checked. Checking and dialling use the same answer of
 * the name server, so a name cannot change its address in between.
 */
const checkedAddresses: LookupFunction = (hostname, options, callback) => {
  const addresses = checked.getStore();
  const [first] = addresses ?? [];
  process.nextTick(() => {
    if (!first) callback(new Error(`${hostname} was not checked`), '');
    else if (options.all) callback(null, [...addresses!]);
    else callback(null, first.address, first.family);
  });
};

/** The name for certificates and SNI, which do not have the dot at the end of a rooted name. */
const serverName = (hostname: string) =>
  isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : undefined;

const contexts = new Map<string | undefined, SecureContext>();

/**
 * What the connections of this process trust. Contexts are kept: for each one that adds an
 * authority, Node parses the certificates of all authorities again, which takes 20 ms.
 */
function contextTrusting(extraCa: string | undefined): SecureContext {
  const known = contexts.get(extraCa);
  if (known) return known;
  const context = createSecureContext(
    extraCa ? { ca: [...getCACertificates('default'), extraCa] } : {},
  );
  contexts.set(extraCa, context);
  return context;
}

/**
 * Builds the connector that every pool uses.
 * @param extraCa PEM of a certificate authority to trust beside the default ones
 */
export const createGuardedConnector = (guard: HostGuard, extraCa?: string): GuardedConnector => {
  // Without a timeout: the request's deadline gives up a connection that takes too long.
  const dial = buildConnector({
    allowH2: false,
    timeout: 0,
    secureContext: contextTrusting(extraCa),
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn verification off.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    // On a slow network, Node's default of 250 ms can give up on the only family that works.
    autoSelectFamilyAttemptTimeout: 1_000,
    lookup: checkedAddresses,
  }) as Dial;

  return (workspaceId) => (options, callback) => {
    const { hostname, port } = options;
    const protocol = options.protocol as Target['protocol'];
    const givingUp = new AbortController();
    const { signal } = givingUp;
    let socket: Socket | undefined;
    const open = (addresses: readonly ResolvedAddress[]) => {
      signal.throwIfAborted();
      socket = checked.run(addresses, () =>
        dial({ ...options, servername: serverName(hostname) }, callback),
      );
    };
    // Node never calls `lookup` for an IP literal, so the guard checks literals here.
    guard
      .resolve({ hostname, protocol, port }, { workspaceId, signal })
      .then(open)
      .catch((error: Error) => callback(error, null));
    return { destroy: (reason) => (socket ? socket.destroy(reason) : givingUp.abort(reason)) };
  };
};
