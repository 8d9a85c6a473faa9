import type { Logger } from 'pino';

/**
 * The bounds that keep one stranger, or one workspace, from stopping the service for others, each
 * with what happens at it. What a bound refuses gets a clear error; this list is what an operator
 * sees of it: a label of the metric `conversation_service_bound_reached_total`, and a line in the
 * log.
 * @see docs/operations.md, "Bounds"
 */
export const BOUNDS = {
  address_sessions: 'One address opened too many chats; it gets 429.',
  address_messages: 'One address wrote too many chat messages; it gets 429.',
  address_bytes: 'One address sent too many bytes of chat messages; it gets 429.',
  address_read_bytes:
    'One address was sent too many bytes of chat messages; a further read gets 429, or goes on later.',
  address_streams:
    'One address has too many chat streams open; a further one gets 429, and the chat page polls.',
  address_requests: 'One address asked for too many pages; it gets 429.',
  address_wrong_keys:
    'One address sent too many wrong API keys; it gets 429, but for keys that were right lately.',
  address_connections:
    'One address has too many connections open, or requests under way; further ones get 429.',
  connections:
    'Too many connections are open in all; those of the addresses with the most (behind a proxy: with the most requests under way), and idle ones, are closed, and further ones until there is room.',
  pipelined_requests:
    'A connection sent too many requests without waiting for their answers; it is closed.',
  slow_requests: 'A request took too long to arrive; it gets 408, and its connection is closed.',
  bodies: 'Bodies that are being read hold the memory for them; a further part of one gets 503.',
  unread_answers:
    'Answers were not taken in time, or those of strangers hold the memory for them; their connections are closed.',
  log_lines:
    'Many requests were refused, for unknown addresses or keys, say; those beyond 600 a minute are counted in /metrics only.',
  visitor_messages: 'A visitor of the chat wrote too many messages; they get 429.',
  visitor_reads: 'A visitor of the chat asked for messages too often; they get 429.',
  workspace_streams:
    'A workspace has its share of the chat streams open; a further one gets 503, and the chat page polls.',
  team_streams:
    'A workspace has its share of the live pages open; a further page stays as it was loaded.',
  key_api_calls: 'An API key made too many calls; it gets 429.',
  workspace_api_calls: 'A workspace made too many API calls; it gets 429.',
  workspace_pages: 'The members of a workspace asked for too many pages; they get 429.',
  workspace_turns: 'A workspace has many requests waiting for their turn; a further one gets 429.',
  sign_in_address: 'One address tried too often to sign in, to join or to set up; it gets 429.',
  sign_in_member: 'One address tried too many passwords for one e-mail; it gets 429.',
  sign_in_slowed: 'One e-mail had too many wrong passwords; its sign-in takes longer for a while.',
  present_password: 'A member gave too many wrong present passwords; the next change gets 429.',
  password_hashes: 'Too many passwords were waiting to be checked; further ones get 429.',
  pattern_work:
    'Reading a text for the values of a tool, or checking its arguments, would take too long; the value is asked for, or refused.',
  workspace_checks:
    'A workspace has many definitions and test calls of tools waiting to be checked; a further one gets 429.',
  lookups:
    'Too many host names were waiting to be looked up; the look-up was refused, and what needed it is tried again.',
  workspace_deliveries:
    'A workspace has its share of the deliveries under way; its further ones wait.',
  workspace_tool_calls:
    'A workspace has its share of the tool calls under way; its further ones wait.',
  workspace_test_calls:
    'A workspace waits for its share of test calls of tools; a further one gets 429.',
  workspace_waiting_payments:
    'A workspace has its share of the requests that wait for payment pages; a further one is answered `creating` at once.',
  workspace_answers:
    'A workspace has its share of the memory for answers of outbound calls; a further one is read on when there is room, or times out.',
  tool_answers:
    'A large answer of a tool was not read in time, since others came first; the call is tried again.',
  workspace_agent_turns:
    'A workspace has its share of the agent turns under way; its further ones wait.',
  workspace_texts:
    'A workspace has its share of the texts being sent to channels; its further ones wait.',
  workspace_payments:
    'A workspace has its share of the questions to payment providers under way; its further ones wait.',
  workspace_results:
    'The room for large tool results was full; the oldest of the workspace that stored the most were cut.',
  workspace_transactions:
    'API calls of a workspace waited too long for its share of the connections to the database; they get 503.',
  memory_workspace:
    'A workspace holds more of the memory for stored data than is free; what it adds gets 503, and the others go on.',
  memory_visitors:
    'The stored data fills the memory for it: new chats get 503 until there is room.',
  memory:
    'The stored data fills the memory for it: whatever adds to it gets 503 until there is room.',
} as const satisfies Record<string, string>;

export type BoundName = keyof typeof BOUNDS;

/** Where the parts that keep a bound say that it was reached. */
export interface Bounds {
  /** Counts it, and tells the log at the first time and then at most once an hour. */
  reached(bound: BoundName): void;
}

/** As long as a bound is being reached, the log says so once in this time. */
const LOG_AGAIN_MS = 3_600_000;

/**
 * @param observe counts each time, for /metrics
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
        `a bound was reached: ${BOUNDS[bound]} More in the next hour is counted in /metrics only.`,
      );
    },
  };
}

/** For tools and tests that watch no bounds. */
export const unwatchedBounds: Bounds = { reached() {} };
