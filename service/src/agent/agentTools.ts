import type { BuiltInTool } from '../domain/builtInTools.ts';
import type { Tool } from '../domain/tool.ts';
import type { AgentTool } from './agentModel.ts';

/** Tools whose form for a model is remembered: those of the workspaces that were served last. */
const MAX_REMEMBERED = 2_000;

const remembered = new Map<string, AgentTool>();

/**
 * A tool as a model sees it: the same object until the tool changes, so that what is worked out
 * from its words can be remembered with it.
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
