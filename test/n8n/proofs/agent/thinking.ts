import { afterAll, beforeAll } from '@jest/globals';
import type { ChangeNodes, Execution, Workflow } from '../../n8nServer.ts';
import { ownWorkflow, type Stage } from '../../stage.ts';
import { agentRunner, AGENT_TRIGGER, type AgentRunner } from './agentRunner.ts';
import { startThinkingServer, type ThinkingServer } from './thinkingServer.ts';

/** How a workflow answers: by its last node, or by the operation Agent Turn → Reply. */
export const WAYS = ['its last node', 'operations'] as const;
export type Way = (typeof WAYS)[number];

const FILES = {
  'its last node': ownWorkflow('thinking-agent'),
  operations: ownWorkflow('thinking-agent-operations'),
};

export interface Thinking extends AgentRunner {
  /** What the workflows ask. They answer with its answers. */
  readonly server: ThinkingServer;
  /** Makes a workflow the agent that asks `server` and answers in this way. */
  publishAgent(way: Way, triggerParameters?: Record<string, unknown>): Promise<Workflow>;
  /** Does the same once, for all tests of the surrounding describe. */
  publishAgentForAllTests(way: Way): () => Workflow;
}

/** Makes workflows the agent that think for as long as a test wants. */
export function withThinking(stage: () => Stage): Thinking {
  const runner = agentRunner(stage);
  let server: ThinkingServer | undefined;
  beforeAll(async () => {
    server = await startThinkingServer();
  });
  afterAll(() => server?.close());
  const askServer =
    (triggerParameters: Record<string, unknown> = {}): ChangeNodes =>
    (node) => {
      node('Think').parameters.url = server!.url;
      Object.assign(node(AGENT_TRIGGER).parameters, triggerParameters);
    };
  return {
    ...runner,
    get server() {
      return server!;
    },
    publishAgent: (way, triggerParameters) =>
      runner.publish(FILES[way], askServer(triggerParameters)),
    publishAgentForAllTests: (way) => runner.publishForAll(FILES[way], askServer()),
  };
}

/** Whether the service refused an answer by an operation. By the last node, n8n does not know. */
export const wasRefused = ({ output }: Execution) =>
  output['Somebody was faster'] !== undefined && output.Sent === undefined;
