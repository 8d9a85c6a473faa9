import type { Tool } from '../domain/tool.ts';
import type { AgentTool } from './agentModel.ts';

/** Tools whose form for a model is kept: those of the workspaces that were served last. */
const MAX_KEPT = 2_000;

const kept = new Map<string, AgentTool>();

/**
 * A tool as a model sees it: the same object until the tool is changed, in whatever store it is.
 * What is worked out of its words can be kept by it, instead of being worked out again at each
 * turn.
 */
export function agentToolOf(tool: Tool): AgentTool {
  const key = JSON.stringify([tool.id, tool.updatedAt, tool.definitionHash, tool.description]);
  const known = kept.get(key);
  kept.delete(key);
  const { name, description, parameters } = tool;
  const agentTool = known ?? { name, description, parameters };
  kept.set(key, agentTool);
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
  return agentTool;
}
