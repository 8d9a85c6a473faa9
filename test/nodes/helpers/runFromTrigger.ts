// A whole execution of n8n's engine: one of our triggers, another node, and our action node.
import type { INode } from 'n8n-workflow';
import {
  ACTION,
  additionalData,
  core,
  nodeTypes,
  ourNode,
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
  between: Record<string, unknown>;
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
  between,
  resource,
  operation,
  parameters,
}: Run): Promise<void> {
  const nodes: INode[] = [
    ourNode(trigger, triggerParameters, { id: 'trigger' }),
    {
      ...ourNode('replace', { output: between } as INode['parameters']),
      id: 'between',
      name: 'Between',
    },
    ourNode(ACTION, { resource, operation, ...parameters }, { id: 'action', name: 'Action' }),
  ];
  const to = (name: string) => ({ main: [[{ node: name, type: 'main' as const, index: 0 }]] });
  const wf = new workflow.Workflow({
    id: 'workflow-1',
    name: 'Test',
    nodes,
    connections: { Trigger: to('Between'), Between: to('Action') },
    active: true,
    nodeTypes,
    settings: { executionOrder: 'v1' },
  });
  const data = additionalData(() => credential, { webhookWaitingBaseUrl: 'https://localhost' });
  data.hooks = new core.ExecutionLifecycleHooks('webhook', '1', {
    id: wf.id,
    name: 'Test',
    nodes,
  } as never);
  const start = { node: wf.getNode('Trigger')!, source: null };
  const runData = workflow.createRunExecutionData({
    executionData: {
      nodeExecutionStack: [{ ...start, data: { main: [[{ json: output as never }]] } }],
    },
  });
  const execution = new core.WorkflowExecute(data, 'webhook', runData);
  const { error } = (await execution.processRunExecutionData(wf)).data.resultData;
  if (error) throw error;
}
