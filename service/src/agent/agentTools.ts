import type { BuiltInTool } from '../domain/builtInTools.ts';
import type { Tool } from '../domain/tool.ts';
import type { AgentTool } from './agentModel.ts';

/** The most tools that are cached. The least recently used one goes first. */
const MAX_REMEMBERED = 2_000;

const remembered = new Map<string, AgentTool>();

/**
 * A tool as a model sees it. Returns the same object until the tool changes, so that other code can
 * cache what it derives from it.
 */
export function agentToolOf(tool: Tool): AgentTool {
  const { name, description, parameters, readOnly = false, examplePhrases = [] } = tool;
  const key = JSON.stringify([
    ...[tool.id, tool.updatedAt, tool.definitionHash, description],
    ...[readOnly, examplePhrases],
  ]);
  const known = remembered.get(key);
  remembered.delete(key);
  const agentTool = known ?? { name, description, parameters, readOnly, examplePhrases };
  remembered.set(key, agentTool);
  if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  return agentTool;
}

export const builtInAgentTool = ({ name, description, parameters }: BuiltInTool): AgentTool => ({
  name,
  description,
  parameters,
  readOnly: false,
  examplePhrases: [],
});
