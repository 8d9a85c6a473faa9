import type { Logger } from 'pino';

/**
 * The bounds that keep one stranger, or one workspace, from using up what others need. A refused
 * request gets a clear error. The operator sees the bound as a label of the metric
 * `conversation_service_bound_reached_total`, and its sentence in the log.
 * @see docs/operations.md, "Bounds"
 */
export const BOUNDS = {
  address_sessions: 'One address opened too many chats. It gets 429.',
  address_messages: 'One address sent too many chat messages. It gets 429.',
  address_bytes: 'One address sent too many bytes of chat messages. It gets 429.',
  address_read_bytes:
    'One address read too many bytes of chat messages. It gets 429, and its streams continue later.',
  address_streams:
    'One address has too many chat streams open. The next one gets 429, and the chat page polls.',
  address_requests: 'One address requested too many pages. It gets 429.',
  address_wrong_keys:
    'One address sent too many wrong API keys. It gets 429, except for keys that were valid lately.',
  address_connections:
    'One address has too many connections or requests open. The next ones get 429.',
  connections:
    'Too many connections are open. Idle ones are closed, and those of the addresses with the most connections (behind a proxy, with the most requests). New ones wait until there is room.',
  pipelined_requests:
    'A connection sent too many requests without waiting for their answers. It is closed.',
  slow_requests: 'A request took too long to arrive. It gets 408, and its connection is closed.',
  bodies: 'The memory for request bodies that are being read is full. More gets 503.',
  unread_answers:
    'A client did not read its answer in time, or the memory for answers to strangers is full. The connection is closed.',
  log_lines:
    'Many requests were refused or failed. After 600 log lines a minute, the rest is only counted in /metrics.',
  visitor_messages: 'A chat visitor sent too many messages. The next ones get 429.',
  visitor_reads: 'A chat visitor requested messages too often. The next requests get 429.',
  workspace_streams:
    'A workspace has its share of the chat streams. The next one gets 503, and the chat page polls.',
  team_streams:
    'A workspace has its share of the live pages. The next page does not update itself.',
  key_api_calls: 'An API key made too many calls. It gets 429.',
  workspace_api_calls: 'A workspace made too many API calls. It gets 429.',
  workspace_pages: 'The members of a workspace requested too many pages. They get 429.',
  workspace_turns: 'Too many requests of a workspace wait for their turn. The next one gets 429.',
  sign_in_address:
    'One address tried too often to sign in, to join or to set up the service. It gets 429.',
  sign_in_member: 'One address tried too many passwords for one e-mail. It gets 429.',
  sign_in_slowed:
    'Too many wrong passwords were tried for one e-mail. Its sign-in takes longer for a while.',
  present_password: 'A member entered a wrong current password too often. The next try gets 429.',
  password_hashes: 'Too many passwords wait to be checked. The next ones get 429.',
  pattern_work:
    'Finding or checking the arguments of a tool would take too long. The agent asks for the value, or refuses it.',
  workspace_checks:
    'Too many tool definitions and test calls of a workspace wait to be checked. The next one gets 429.',
  lookups:
    'Too many host names wait to be looked up. The look-up is refused, and what needed it is tried again.',
  workspace_deliveries: 'A workspace has its share of the deliveries under way. The others wait.',
  workspace_tool_calls: 'A workspace has its share of the tool calls under way. The others wait.',
  workspace_test_calls:
    'A workspace has its share of the requests that wait for test calls of tools. The next one gets 429.',
  workspace_waiting_payments:
    'A workspace has its share of the requests that wait for payment pages. The next one is answered `creating` at once.',
  workspace_answers:
    'A workspace has its share of the memory for answers to outbound calls. The next answer is read when there is room, or times out.',
  tool_answers:
    'A large tool answer was not read in time, because other answers came first. The call is tried again.',
  workspace_agent_turns: 'A workspace has its share of the agent turns under way. The others wait.',
  workspace_waits: 'A workspace has its share of the waits that are worked on. The others wait.',
  workspace_webhook_turns:
    'A workspace has its share of the turns that its workflow is answering. The others wait.',
  workspace_outbound_messages:
    'A workspace has its share of the outbound messages under way. The others wait.',
  workspace_payments:
    'A workspace has its share of the requests to payment providers under way. The others wait.',
  workspace_results:
    'The room for large tool results is full. The oldest of the workspace that stored the most are cut.',
  workspace_transactions:
    'API calls of a workspace waited too long for its share of the database. They get 503.',
  memory_workspace:
    'A workspace stores more than is free in memory. What it adds gets 503, and the others continue.',
  memory_visitors:
    'The memory for stored data is nearly full. New chats get 503 until there is room.',
  memory:
    'The memory for stored data is full. Everything that adds to it gets 503 until there is room.',
} as const satisfies Record<string, string>;

export type BoundName = keyof typeof BOUNDS;

/** Counts how often bounds are reached. */
export interface Bounds {
  /** Counts that the bound was reached. Logs it the first time, and then at most once an hour. */
  reached(bound: BoundName): void;
}

/** How often a bound is logged that is reached again and again. */
const LOG_AGAIN_MS = 3_600_000;

/**
 * @param observe called each time that a bound is reached, for /metrics
 * @param now steady milliseconds
 */
export function createBounds(
  log: Pick<Logger, 'warn'>,
  observe: (bound: BoundName) => void = () => {},
  now: () => number = () => performance.now(),
): Bounds {
  const loggedAt = new Map<BoundName, number>();
  return {
    reached(bound) {
      observe(bound);
      const before = loggedAt.get(bound);
      if (before !== undefined && now() - before < LOG_AGAIN_MS) return;
      loggedAt.set(bound, now());
      log.warn(
        { bound },
        `a bound was reached: ${BOUNDS[bound]} In the next hour it is only counted in /metrics.`,
      );
    },
  };
}

/** For commands and tests that watch no bounds. */
export const unwatchedBounds: Bounds = { reached() {} };
