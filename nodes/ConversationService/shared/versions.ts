/**
 * Of the nodes with a webhook; a new node gets the last one. They do the same. But for each request at a
 * node of version 1, n8n evaluates an expression of its own, which takes two thirds of the execution's
 * CPU time when its expression engine is started for nothing else (webhook-helpers, parseRequestBody).
 */
export const TRIGGER_VERSIONS = [1, 1.1];
