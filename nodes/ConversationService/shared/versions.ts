/**
 * The versions of the nodes with a webhook; a node that is added now gets the last one. Both do the
 * same. But for each request at a node of version 1, n8n itself evaluates an expression, which takes two
 * thirds of the execution's CPU time when nothing else needs the expression engine (n8n:
 * webhook-helpers, parseRequestBody).
 */
export const TRIGGER_VERSIONS = [1, 1.1];
