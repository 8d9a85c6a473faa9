/** What arguments of a tool call may measure as JSON, before anything else looks at them. */
export const ARGUMENT_LIMITS = { maxBytes: 64 * 1024, maxDepth: 32 } as const;
