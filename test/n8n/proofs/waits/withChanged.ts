import { afterAll, beforeAll } from '@jest/globals';
import type { Credential, Workflow } from '../../n8nServer.ts';
import type { Stage } from '../../stage.ts';

/**
 * Runs a workflow for the tests of the surrounding describe, changed before it is published.
 * @param connect the credential of its nodes; by default the stage's
 */
export function withChanged(
  stage: () => Stage,
  file: string,
  change: (workflow: Workflow) => void | Promise<void>,
  connect: () => Credential | Promise<Credential> = () => stage().credential,
): () => Workflow {
  let running: Workflow | undefined;
  beforeAll(async () => {
    const { n8n } = stage();
    const workflow = await n8n.importWorkflow(file, await connect());
    await change(workflow);
    const { id, name, nodes, connections, settings } = workflow;
    await n8n.api('PUT', `/workflows/${id}`, { name, nodes, connections, settings });
    await n8n.activate(id);
    await stage().receiving(workflow);
    running = workflow;
  });
  afterAll(async () => {
    if (running) await stage().retire(running);
  });
  return () => running!;
}

export const nodeOf = ({ nodes }: Workflow, name: string) =>
  nodes.find((node) => node.name === name)!;
