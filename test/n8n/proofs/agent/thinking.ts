import { afterAll, beforeAll } from '@jest/globals';
import type { ChangeNodes, Workflow } from '../../n8nServer.ts';
import { ownWorkflow, type Stage } from '../../stage.ts';
import { agentRunner, AGENT_TRIGGER, type AgentRunner } from './agentRunner.ts';
import { startThinkingServer, type ThinkingServer } from './thinkingServer.ts';

/** How a workflow answers: by its last node, or by the operation Agent Turn → Reply. */
export const WAYS = ['last node', 'operations'] as const;
export type Way = (typeof WAYS)[number];

const FILES = {
  'last node': ownWorkflow('thinking-agent'),
  operations: ownWorkflow('thinking-agent-operations'),
};

export interface Thinking extends AgentRunner {
  /** What the workflows ask; its answers are the workflow's. */
  readonly mind: ThinkingServer;
  /** Makes a workflow the agent that asks `mind`. */
  think(way: Way, triggerParameters?: Record<string, unknown>): Promise<Workflow>;
  /** The same once for all tests of the surrounding describe. */
  thinkForAll(way: Way): () => Workflow;
}

/** Workflows that are the agent and think for as long as a test wants. */
export function withThinking(stage: () => Stage): Thinking {
  const runner = agentRunner(stage);
  let mind: ThinkingServer | undefined;
  beforeAll(async () => {
    mind = await startThinkingServer();
  });
  afterAll(() => mind?.close());
  const asksMind =
    (triggerParameters: Record<string, unknown> = {}): ChangeNodes =>
    (node) => {
      node('Think').parameters.url = mind!.url;
      Object.assign(node(AGENT_TRIGGER).parameters, triggerParameters);
    };
  return {
    ...runner,
    get mind() {
      return mind!;
    },
    think: (way, triggerParameters) => runner.publish(FILES[way], asksMind(triggerParameters)),
    thinkForAll: (way) => runner.publishForAll(FILES[way], asksMind()),
  };
}

/** What stands in an execution whose answer was refused; a last node's fails nothing. */
export const wasRefused = (way: Way, output: Record<string, Record<string, unknown>[]>) =>
  way === 'last node' || (output['Somebody was faster'] !== undefined && output.Sent === undefined);
