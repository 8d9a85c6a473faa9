import type { Owner, OwnerIdentity } from '../owner.ts';

export const ownerJson = ({ instanceId, workflowId, workflowName, nodeId, host }: Owner) => ({
  instance_id: instanceId,
  workflow_id: workflowId,
  workflow_name: workflowName,
  node_id: nodeId,
  host,
});

export const ownerFrom = (given: {
  readonly instance_id: string;
  readonly workflow_id: string;
  readonly node_id: string;
  readonly host: string;
}): OwnerIdentity => ({
  instanceId: given.instance_id,
  workflowId: given.workflow_id,
  nodeId: given.node_id,
  host: given.host,
});
