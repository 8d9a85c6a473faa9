import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { ChangeNodes, Execution, Workflow } from '../../n8nServer.ts';
import type { Customer, Stage } from '../../stage.ts';

export const AGENT_TRIGGER = 'Conversation Service Agent Trigger';

/** A turn as the API shows it: the fields that tests look at. */
export interface AgentTurn {
  readonly status: string;
  readonly outcome: string | null;
  readonly problem: string | null;
}

export interface AgentRunner {
  /** Imports a workflow, changes its nodes, publishes it, and waits until it is the agent. */
  publish(file: string, change?: ChangeNodes): Promise<Workflow>;
  /** Does the same once, for all tests of the surrounding describe. */
  publishForAll(file: string, change?: ChangeNodes): () => Workflow;
  /** Waits until the service has this workflow as its agent, and n8n verifies calls to it. */
  untilAgent(workflow: Workflow): Promise<void>;
  /** Unpublishes a workflow, and waits until the service knows. */
  unpublish(workflow: Workflow): Promise<void>;
  /** The turns of a conversation, oldest first. */
  turnsOf(customer: Customer): Promise<AgentTurn[]>;
  /** Waits until a conversation has `count` turns and the newest one has this status. */
  untilTurn(customer: Customer, status: string, count?: number): Promise<AgentTurn>;
  /** The executions that turns of a conversation started, oldest first. */
  executionsOf(workflow: Workflow, customer: Customer): Promise<Execution[]>;
  /** Waits for so many of them. @returns all of them */
  untilExecutions(workflow: Workflow, customer: Customer, count: number): Promise<Execution[]>;
  statusOf(customer: Customer): Promise<string>;
}

const triggerIn = ({ nodes }: Workflow) => nodes.find(({ name }) => name === AGENT_TRIGGER)!;

/**
 * Makes workflows the agent. What a test publishes is unpublished after it, and the agent is turned
 * off after the last test.
 */
export function agentRunner(stage: () => Stage): AgentRunner {
  const api = () => stage().service.api;
  let running: Workflow | undefined;

  const webhook = async () =>
    (await api().get('/api/agent')).body.webhook as {
      endpoint: string;
      removed_at: string | null;
    } | null;
  const untilAgent: AgentRunner['untilAgent'] = async (workflow) => {
    const { webhookId } = triggerIn(workflow);
    const endpoint = await stage().until(`"${workflow.name}" to be the agent`, async () => {
      const current = await webhook();
      const isThis = current?.removed_at === null && current.endpoint.includes(webhookId!);
      return isThis && current.endpoint;
    });
    const { pathname } = new URL(endpoint);
    const headers = { 'content-type': 'application/json' };
    await stage().until(`"${workflow.name}" to verify what comes`, async () => {
      const { status } = await stage().n8n.call('POST', pathname, { headers, body: '{}' });
      return status === 401;
    });
  };
  const unpublish = async (workflow: Workflow) => {
    await stage().n8n.deactivate(workflow.id);
    await stage().until(
      `"${workflow.name}" to stop being the agent`,
      async () => (await webhook())?.removed_at !== null,
    );
  };
  const publish = async (file: string, change?: ChangeNodes) => {
    const workflow = await stage().n8n.importWorkflow(file, stage().credential, change);
    await stage().n8n.activate(workflow.id);
    await untilAgent(workflow);
    return workflow;
  };
  const turnsOf = async ({ conversationId }: Customer) => {
    const { body } = await api().get(`/api/agent-turns?conversation_id=${conversationId}`);
    return (body.data as AgentTurn[]).reverse();
  };
  const executionsOf = async ({ id }: Workflow, { conversationId }: Customer) =>
    (await stage().n8n.executions(id)).filter(
      ({ output }) => output[AGENT_TRIGGER]?.[0]?.conversation_id === conversationId,
    );

  afterEach(async () => {
    if (running) await unpublish(running);
    running = undefined;
  });
  // In the other proofs, workflows that events start answer.
  afterAll(() => api().patch('/api/agent', { enabled: false, use_webhook: false }));

  return {
    untilAgent,
    unpublish,
    turnsOf,
    executionsOf,
    publish: async (file, change) => (running = await publish(file, change)),
    publishForAll(file, change) {
      let workflow: Workflow | undefined;
      beforeAll(async () => {
        workflow = await publish(file, change);
      });
      afterAll(async () => {
        if (workflow) await unpublish(workflow);
      });
      return () => workflow!;
    },
    untilTurn: (customer, status, count = 1) =>
      stage().until(`turn ${count} to be ${status}`, async () => {
        const turns = await turnsOf(customer);
        const newest = turns.at(-1);
        return turns.length === count && newest?.status === status && newest;
      }),
    untilExecutions: (workflow, customer, count) =>
      stage().until(`${count} executions of "${workflow.name}"`, async () => {
        const found = await executionsOf(workflow, customer);
        return found.length >= count && found;
      }),
    statusOf: async ({ conversationId }) =>
      (await api().get(`/api/conversations/${conversationId}`)).body.status as string,
  };
}
