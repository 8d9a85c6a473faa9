// A whole execution of n8n's engine: one of our triggers, another node, and our action node.
import type { INode } from 'n8n-workflow';
import {
  ACTION,
  additionalData,
  execute,
  nodeTypes,
  ourNode,
  runDataAt,
  to,
  workflow,
  type Credential,
} from './n8n.ts';

interface Run {
  credential: Credential;
  /** The type of the trigger. */
  trigger: string;
  triggerParameters?: INode['parameters'];
  /** The output of the trigger. */
  output: Record<string, unknown>;
  /** The output of the node between. */
  between?: Record<string, unknown>;
  resource: string;
  operation: string;
  parameters: INode['parameters'];
}

/** @throws the error of the action node */
export async function runFromTrigger({
  credential,
  trigger,
  triggerParameters = {},
  output,
  between = {},
  resource,
  operation,
  parameters,
}: Run): Promise<void> {
  const start = ourNode(trigger, triggerParameters, { id: 'trigger' });
  const wf = new workflow.Workflow({
    id: 'workflow-1',
    name: 'Test',
    nodes: [
      start,
      ourNode('replace', { output: between as never }, { id: 'between', name: 'Between' }),
      ourNode(ACTION, { resource, operation, ...parameters }, { id: 'action', name: 'Action' }),
    ],
    connections: { Trigger: to('Between'), Between: to('Action') },
    active: true,
    nodeTypes,
    settings: { executionOrder: 'v1' },
  });
  const data = additionalData(() => credential, { webhookWaitingBaseUrl: 'https://localhost' });
  await execute(wf, data, runDataAt(start, [{ json: output as never }]));
}
