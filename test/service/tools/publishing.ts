// A service to which a workflow publishes its tool.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { MEMBER_ENV } from '../../helpers/browserless.ts';
import { TOOL_TEST_ENV } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { endpoint, removeTools, service, useToolService } from './toolService.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
export type Json = any;

/** Stands still unless a test moves it. */
let now = Date.now();
export const moveClock = (ms: number) => void (now += ms);

/** Starts the service for the tests of a file. */
export function usePublishing(): void {
  useToolService({
    env: { ...TOOL_TEST_ENV, ...MEMBER_ENV },
    clock: { now: () => new Date(now) },
  });
  beforeEach(() => endpoint.forget());
  afterEach(removeTools);
}

export const OWNER = {
  instance_id: 'instance-1',
  workflow_id: 'workflow-1',
  workflow_name: 'Orders',
  node_id: 'node-1',
  host: 'n8n.example.com',
};
export const definition = (changes: Json = {}): Json => ({
  description: 'Finds an order.',
  parameters: { type: 'object', properties: { order_number: { type: 'string' } } },
  endpoint: `${endpoint.url}/orders`,
  ...changes,
});
export const publication = (changes: Json = {}): Json => ({
  definition: definition(),
  sample_arguments: { order_number: 'A-1042' },
  owner: OWNER,
  ...changes,
});
export const put = (changes: Json = {}, name = 'find_order') =>
  service.api.put(`/api/tools/published/${name}`, publication(changes));
export const unpublish = (changes: Record<string, string> = {}, name = 'find_order') => {
  const { workflow_name: _, ...identity } = OWNER;
  const query = new URLSearchParams({ ...identity, ...changes });
  return service.api.delete(`/api/tools/published/${name}?${query}`);
};
export const tools = async (): Promise<Json[]> =>
  (await service.api.get('/api/tools?limit=200')).body.data;
export const theTool = async (): Promise<Json> => {
  const all = await tools();
  expect(all).toHaveLength(1);
  return all[0];
};
export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');
export const until = (what: string, holds: (tool: Json) => boolean) =>
  waitFor(
    what,
    async () => {
      const tool = await theTool();
      return holds(tool) ? tool : null;
    },
    { everyMs: 5 },
  );
export const untilLive = () => until('the tool to be live', ({ status }) => status === 'live');

/** Publishes, and waits until the tool is live. @returns what the publisher was answered */
export async function publishLive(changes: Json = {}, name = 'find_order'): Promise<Json> {
  const { status, body } = await put(changes, name);
  expect(status).toBe(202);
  await untilLive();
  return body;
}

export const OTHER_OWNERS: [string, Record<string, string>][] = [
  ['another n8n', { instance_id: 'instance-2' }],
  ['a clone on another host', { host: 'staging.example.com' }],
  ['another workflow', { workflow_id: 'workflow-2' }],
  ['another node', { node_id: 'node-2' }],
];
