import type { Owner, OwnerIdentity } from '../owner.ts';

export const ownerJson = ({ instanceId, workflowId, workflowName, nodeId, host }: Owner) => ({
  instance_id: instanceId,
  workflow_id: workflowId,
  workflow_name: workflowName,
  node_id: nodeId,
  host,
});

interface Given {
  readonly instance_id: string;
  readonly workflow_id: string;
  readonly node_id: string;
  readonly host: string;
}

/** Reads an owner's identity from a request. Missing fields are undefined. */
export function ownerFrom(given: Given): OwnerIdentity;
export function ownerFrom(given: Partial<Given>): Partial<OwnerIdentity>;
export function ownerFrom(given: Partial<Given>): Partial<OwnerIdentity> {
  return {
    instanceId: given.instance_id,
    workflowId: given.workflow_id,
    nodeId: given.node_id,
    host: given.host,
  };
}
