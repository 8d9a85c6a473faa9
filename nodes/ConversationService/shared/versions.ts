/**
 * The versions of the triggers. A node that is added now gets the last one. Both do the same, but for
 * each request to a node of version 1, n8n evaluates an expression. That takes two thirds of the
 * execution's CPU time when nothing else needs the expression engine (n8n: webhook-helpers,
 * parseRequestBody).
 */
export const TRIGGER_VERSIONS = [1, 1.1];
