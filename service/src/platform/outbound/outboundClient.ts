import type { Logger } from 'pino';
import type { Bounds } from '../limits/bounds.ts';
import { createAddressPolicy } from './addressPolicy.ts';
import { ConnectionPools } from './connectionPools.ts';
import { decodeBody } from './decodeBody.ts';
import { AnswerRoom } from './answerRoom.ts';
import { exchange, type TakeMemory, type RawResponse } from './exchange.ts';
import { createGuardedConnector } from './guardedConnector.ts';
import { createHostGuard, type HostGuard } from './hostGuard.ts';
import { openHost, type HostOpening } from './hostOpening.ts';
import type { Resolver } from './lookups.ts';
import { OutboundError, type OutboundErrorKind } from './outboundError.ts';
import { isRedirectWithLocation, nextHop, type Hop } from './redirects.ts';
import { assertPlainlyWritten, parseTarget, type Host, type Target } from './targetUrl.ts';

export { isUnsent, OutboundError, type OutboundErrorKind } from './outboundError.ts';

export interface OutboundRequest {
  /** Each workspace has its share of the look-ups, and its own connections. */
  workspaceId: string;
  url: string;
  method: string;
  /** `Host` cannot be set. */
  headers: Record<string, string>;
  /**
   * Sent instead of `headers` when a redirect leads to another origin. Default: those of `headers`
   * that are for content negotiation.
   */
  headersElsewhere?: Record<string, string>;
  body?: string | Buffer;
  /** From connecting to the last byte. Waiting for a free connection does not count. */
  timeoutMs: number;
  /** The most bytes of the answer's body, after decoding. */
  maxBytes: number;
  /**
   * `cut`: after the headers, a body that is too large, hangs or breaks off is returned in part.
   * `fail`: each of these is an error.
   */
  onTooLarge: 'cut' | 'fail';
  /** Redirects to follow. By default none, and a 3xx is a response like any other. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

/** The last answer, decoded. `durationMs` is for the whole call, rounded. */
export type OutboundResponse = RawResponse;

/**
 * Calls customers' addresses: https and public only, checked at each connection and each redirect.
 */
export interface OutboundClient {
  /**
   * Checks an address without calling it, as when a subscription or tool is saved.
   * @throws OutboundError `invalid_url`, `not_https`, `blocked_address`, `unresolvable` or `busy`
   */
  checkTarget(url: string, workspaceId: string): Promise<void>;
  /**
   * Opens one host and port at private addresses, and closes the one that was open before.
   * @param origin `http://localhost:5678`; null: opens none
   */
  open(origin: string | null): void;
  /**
   * Checks that a host could be called if it were opened.
   * @throws OutboundError like `checkTarget`
   */
  checkOpening(origin: string): Promise<void>;
  /**
   * Sends one request. Any status is a response.
   * @throws OutboundError, or the signal's reason when the caller gave up
   */
  request(options: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Sends one request, and holds the memory for the answer's body until `use` has ended.
   * @returns what `use` returns
   */
  request<T>(options: OutboundRequest, use: (response: OutboundResponse) => Promise<T>): Promise<T>;
  /** Waits for running requests to end, then closes all connections. */
  close(): Promise<void>;
}

export interface OutboundPolicy {
  /**
   * Networks in CIDR notation that may be called although they are not public (ALLOWED_NETWORKS).
   */
  allowedNetworks: readonly string[];
  /** Lets http:// through to addresses in `allowedNetworks` (INSECURE_TARGETS). */
  insecureTargets: boolean;
  /** Prefixes of this network's NAT64 translators (NAT64_PREFIXES). */
  nat64Prefixes?: readonly string[];
  resolver?: Resolver;
  /** Counts the bounds that are reached. */
  bounds?: Bounds;
  /** Gets the addresses of refused names, which only the operator may see. */
  log?: Pick<Logger, 'info'>;
  /** PEM of another certificate authority to trust. Operators set NODE_EXTRA_CA_CERTS instead. */
  ca?: string;
  /** Memory for answers, in pieces of 16 KiB. Set in tests. */
  answerPieces?: number;
  connectionsPerOrigin?: number;
  /** How long a connection is kept at most, even in constant use. Default: 30 s. */
  maxConnectionAgeMs?: number;
}

const CHECK_TIMEOUT_MS = 5_000;
/**
 * As many as there can be deliveries, tool calls and turns of the agent at once, so that none of
 * them waits for a connection.
 */
const DEFAULT_CONNECTIONS_PER_ORIGIN = 2 * (512 + 128 + 64);
const DEFAULT_MAX_CONNECTION_AGE_MS = 30_000;

const refuseHostHeader = (headers: Record<string, string>) => {
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'host'))
    throw new OutboundError(
      'invalid_request',
      'The header Host follows from the address and cannot be set.',
    );
};

/** When an opening is checked, its look-up counts for this workspace, which does not exist. */
const NO_WORKSPACE = 'service';

/** Resolves a host, or gives up soon, because a person is waiting. */
const resolveSoon = async (
  guard: HostGuard,
  target: Target,
  workspaceId: string,
  opening?: HostOpening,
): Promise<void> => {
  const { hostname } = target;
  const givingUp = new AbortController();
  let hasBegun = false;
  const timer = setTimeout(() => {
    givingUp.abort(
      hasBegun
        ? new OutboundError(
            'unresolvable',
            `The name ${hostname} was not resolved within ${CHECK_TIMEOUT_MS} ms.`,
          )
        : new OutboundError(
            'busy',
            `The name ${hostname} was not looked up within ${CHECK_TIMEOUT_MS} ms: other names that are slow to look up came first.`,
          ),
    );
  }, CHECK_TIMEOUT_MS);
  const asker = { workspaceId, signal: givingUp.signal, onBegin: () => void (hasBegun = true) };
  await guard.resolve(target, asker, opening).finally(() => clearTimeout(timer));
};

const never = () => false;

const REFUSALS: ReadonlySet<OutboundErrorKind> = new Set([
  'blocked_address',
  'not_https',
  'invalid_url',
  'unresolvable',
]);

const AFTER_REDIRECT = 'After a redirect from';

/**
 * Says which host redirected to the refused address, since the caller did not name that address.
 */
const afterRedirectFrom =
  ({ url }: Target) =>
  (error: unknown): never => {
    if (!(error instanceof OutboundError) || !REFUSALS.has(error.kind)) throw error;
    const message = error.message.startsWith(AFTER_REDIRECT)
      ? error.message
      : `${AFTER_REDIRECT} ${url.host}: ${error.message}`;
    throw new OutboundError(error.kind, message, { advice: error.advice, cause: error });
  };

/** @throws TypeError when an allowed network or a NAT64 prefix is not in CIDR notation */
export const createOutboundClient = (policy: OutboundPolicy): OutboundClient => {
  let opening: HostOpening | null = null;
  const guard = createHostGuard(createAddressPolicy(policy.allowedNetworks, policy.nat64Prefixes), {
    ...policy,
    opening: () => opening,
  });
  const mayUseHttp = (host: Host, opened = opening) =>
    policy.insecureTargets || (opened !== null && opened.allowsHttp && opened.includes(host));
  const pools = new ConnectionPools(createGuardedConnector(guard, policy.ca), {
    connectionsPerOrigin: policy.connectionsPerOrigin ?? DEFAULT_CONNECTIONS_PER_ORIGIN,
    maxConnectionAgeMs: policy.maxConnectionAgeMs ?? DEFAULT_MAX_CONNECTION_AGE_MS,
  });
  const room = new AnswerRoom(policy.bounds, policy.answerPieces);

  const request = async (
    options: OutboundRequest,
    use: (response: OutboundResponse) => Promise<unknown> = async (response) => response,
  ): Promise<unknown> => {
    const taken = room.open(options.workspaceId);
    try {
      options.signal?.throwIfAborted();
      refuseHostHeader(options.headers);
      return await use(await follow(pools, mayUseHttp, options, taken.enter));
    } finally {
      taken.leave();
    }
  };

  return {
    checkTarget: async (url, workspaceId) => {
      const target = parseTarget(url, mayUseHttp);
      assertPlainlyWritten(url, target);
      await resolveSoon(guard, target, workspaceId);
    },
    open: (origin) => {
      if (origin === (opening?.origin ?? null)) return;
      opening = origin === null ? null : openHost(new URL(origin), policy.nat64Prefixes);
      // The host that was open before may still have connections.
      pools.renew();
    },
    checkOpening: async (origin) => {
      const candidate = openHost(new URL(origin), policy.nat64Prefixes);
      const target = parseTarget(origin, (host) => mayUseHttp(host, candidate));
      await resolveSoon(guard, target, NO_WORKSPACE, candidate);
    },
    request: request as OutboundClient['request'],
    close: () => pools.close(),
  };
};

/** Sends a request and follows its redirects, all within the request's deadline. */
const follow = async (
  pools: ConnectionPools,
  mayUseHttp: (host: Host) => boolean,
  options: OutboundRequest,
  takeMemory: TakeMemory,
): Promise<OutboundResponse> => {
  const { timeoutMs, maxRedirects = 0 } = options;
  const isFollowed = maxRedirects > 0 ? isRedirectWithLocation : never;

  const call = async (
    hop: Hop,
    redirectsLeft: number,
    spentMs: number,
  ): Promise<OutboundResponse> => {
    const target = parseTarget(hop.url, mayUseHttp);
    const remainingMs = Math.max(1, timeoutMs - spentMs);
    const { method, headers, body } = hop;
    const request = { ...options, method, headers, body };
    const sent = { ...request, target, remainingMs, isFollowed, takeMemory };
    const raw = await exchange(pools.of(options.workspaceId), sent);
    const durationMs = spentMs + raw.durationMs;
    if (!isFollowed(raw.status, raw.headers))
      return { ...(await decodeBody(raw, sent)), durationMs: Math.round(durationMs) };
    if (redirectsLeft === 0) {
      throw new OutboundError(
        'redirect',
        `${target.url.host} redirected again after ${maxRedirects} redirects, and no more are followed.`,
      );
    }
    const next = nextHop(hop, raw.status, raw.headers['location']!);
    return call(next, redirectsLeft - 1, durationMs).catch(afterRedirectFrom(target));
  };

  return call(options, maxRedirects, 0);
};
