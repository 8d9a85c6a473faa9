import { afterEach, expect } from '@jest/globals';
import {
  isRunning,
  type ChangeNodes,
  type Execution,
  type Workflow,
  type WorkflowNode,
} from '../../n8nServer.ts';
import { example, type Customer, type Stage } from '../../stage.ts';

export interface ExampleRunner {
  /** Publishes an example, with its nodes changed as its notes tell a user to. */
  run(name: string, change?: ChangeNodes): Promise<Workflow>;
  /** Executes the workflow from one of its triggers, as the button on the canvas does. */
  runByHand(workflow: Workflow, triggerName: string): Promise<Execution>;
  /** A customer whom the service's own agent gives to the team. */
  asksForPerson(name: string): Promise<Customer>;
}

/** Runs examples. After each test, the one that was published last is retired. */
export function exampleRunner(stage: () => Stage): ExampleRunner {
  let running: Workflow | undefined;
  const api = () => stage().service.api;

  afterEach(async () => {
    if (running) await stage().retire(running);
    running = undefined;
  });

  return {
    run: async (name, change) => (running = await stage().run(example(`${name}.json`), change)),
    async runByHand({ id }, triggerName) {
      const manualExecutions = async () =>
        (await stage().n8n.executions(id)).filter(
          (each) => each.mode === 'manual' && !isRunning(each),
        );
      const before = (await manualExecutions()).length;
      await stage().n8n.listen(id, triggerName);
      const execution = await stage().until(
        'the execution',
        async () => (await manualExecutions())[before],
      );
      expect(execution).toMatchObject({ status: 'success' });
      return execution;
    },
    async asksForPerson(name) {
      await api().patch('/api/agent', { enabled: true });
      const customer = await stage().customerWrites('I want to talk to a person', { name });
      const path = `/api/conversations/${customer.conversationId}`;
      await stage().until(
        `${name} to wait for a person`,
        async () => (await api().get(path)).body.status === 'awaiting_human',
      );
      await api().patch('/api/agent', { enabled: false });
      return customer;
    },
  };
}

interface SetParameters {
  assignments: { assignments: { name: string; value: unknown }[] };
}

/** Changes one field of an Edit Fields node. */
export function setField({ parameters }: WorkflowNode, field: string, value: unknown): void {
  const { assignments } = (parameters as unknown as SetParameters).assignments;
  assignments.find(({ name }) => name === field)!.value = value;
}
