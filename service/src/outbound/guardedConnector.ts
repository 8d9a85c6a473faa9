import { isIP, type LookupFunction, type Socket } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { buildConnector } from 'undici';
import type { HostGuard } from './hostGuard.ts';
import type { Target } from './targetUrl.ts';

/** Opens a connection, but only to addresses that were checked; returns the socket at once, so that it can be given up. */
export type GuardedConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => Socket | undefined;

// undici's connector returns its socket; its types do not say so.
type Dial = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

/**
 * The socket dials exactly the addresses this gives it: checking and dialling share one answer of the name server,
 * so a name cannot change its address in between.
 */
const guardedLookup =
  (guard: HostGuard, protocol: Target['protocol']): LookupFunction =>
  (hostname, options, callback) => {
    guard.resolve({ hostname, protocol }).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, first!.address, first!.family);
      },
      (error: Error) => callback(error, ''),
    );
  };

/** A root-anchored name keeps its dot for the name server, but certificates and SNI know it without. */
const serverName = (hostname: string) => (isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : undefined);

/**
 * Builds the connector that every pool uses.
 * @param extraCa PEM of a certificate authority to trust beside the default ones
 */
export const createGuardedConnector = (guard: HostGuard, extraCa?: string): GuardedConnector => {
  const secureContext = createSecureContext(extraCa ? { ca: [...getCACertificates('default'), extraCa] } : {});
  // No time-out of its own: the request's deadline gives up a connection that takes too long.
  const dial = (protocol: Target['protocol']) =>
    buildConnector({
      allowH2: false,
      timeout: 0,
      secureContext,
      // Stated, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment does not switch verification off.
      rejectUnauthorized: true,
      autoSelectFamily: true,
      // Node's 250 ms gives up on the only family that works where the way is long.
      autoSelectFamilyAttemptTimeout: 1_000,
      lookup: guardedLookup(guard, protocol),
    }) as Dial;
  const dialers: Record<Target['protocol'], Dial> = { 'https:': dial('https:'), 'http:': dial('http:') };

  return (options, callback) => {
    const { hostname } = options;
    const protocol = options.protocol as Target['protocol'];
    try {
      // net never calls lookup for an IP literal, so a literal has to be checked before anything is dialled.
      if (isIP(hostname) !== 0) guard.checkLiteral({ hostname, protocol });
    } catch (error) {
      process.nextTick(callback, error, null);
      return undefined;
    }
    return dialers[protocol]({ ...options, servername: serverName(hostname) }, callback);
  };
};
