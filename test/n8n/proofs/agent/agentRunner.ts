import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { ChangeNodes, Execution, Workflow } from '../../n8nServer.ts';
import type { Customer, Stage } from '../../stage.ts';

export const AGENT_TRIGGER = 'Conversation Service Agent Trigger';

/** A turn in the API's answers, of what tests look at. */
export interface AgentTurn {
  readonly turn_id: string;
  readonly conversation_id: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly problem: string | null;
  readonly attempts: number;
}

export interface AgentRunner {
  /** Imports a workflow, changes nodes of it, publishes it, and waits until it is the agent. */
  publish(file: string, change?: ChangeNodes): Promise<Workflow>;
  /** The same once for all tests of the surrounding describe. */
  publishForAll(file: string, change?: ChangeNodes): () => Workflow;
  /** Waits until the service calls this workflow, and n8n verifies it. */
  untilAgent(workflow: Workflow): Promise<void>;
  /** Unpublishes it, and waits until the service knows. */
  unpublish(workflow: Workflow): Promise<void>;
  /** The turns of a conversation, oldest first. */
  turnsOf(customer: Customer): Promise<AgentTurn[]>;
  /** Waits until a conversation's newest turn, the nth of it, has this status. */
  untilTurn(customer: Customer, status: string, nth?: number): Promise<AgentTurn>;
  /** The finished executions that turns of a conversation started, oldest first. */
  executionsOf(workflow: Workflow, customer: Customer): Promise<Execution[]>;
  /** Waits for so many of them. */
  untilExecutions(workflow: Workflow, customer: Customer, count: number): Promise<Execution[]>;
  statusOf(customer: Customer): Promise<string>;
}

const triggerIn = ({ nodes }: Workflow) => nodes.find(({ name }) => name === AGENT_TRIGGER)!;

/**
 * Makes workflows the agent; what a test published is unpublished after it, and the agent off at the
 * end.
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
      const found = await webhook();
      const isThis = found?.removed_at === null && found.endpoint.includes(webhookId!);
      return isThis && found.endpoint;
    });
    const headers = { 'content-type': 'application/json' };
    await stage().until(`"${workflow.name}" to verify what comes`, async () => {
      const { pathname } = new URL(endpoint);
      return (await stage().n8n.call('POST', pathname, { headers, body: '{}' })).status === 401;
    });
  };
  const unpublish = async (workflow: Workflow) => {
    await stage().n8n.deactivate(workflow.id);
    await stage().until(
      `"${workflow.name}" to be the agent no more`,
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
  // The other proofs answer by workflows on events.
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
    untilTurn: (customer, status, nth = 1) =>
      stage().until(`turn ${nth} to be ${status}`, async () => {
        const turns = await turnsOf(customer);
        return turns.length === nth && turns[nth - 1]!.status === status && turns[nth - 1];
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
