import type { Workflow, WorkflowNode } from '../n8nServer.ts';
import type { Stage } from '../stage.ts';

export type NodeByName = (name: string) => WorkflowNode;

/** Changes nodes of a workflow that was imported, as its notes tell a user. */
export type ChangeNodes = (node: NodeByName) => void | Promise<void>;

/** Imports a workflow's file, with this n8n's credential in our nodes, and changes nodes of it. */
export async function importChanged(
  { n8n, credential }: Stage,
  file: string,
  change: ChangeNodes = () => {},
): Promise<Workflow> {
  const workflow = await n8n.importWorkflow(file, credential);
  await change((wanted) => workflow.nodes.find(({ name }) => name === wanted)!);
  const { id, name, nodes, connections, settings } = workflow;
  await n8n.api('PUT', `/workflows/${id}`, { name, nodes, connections, settings });
  return workflow;
}
