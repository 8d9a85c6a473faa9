import { afterEach, expect } from '@jest/globals';
import type { Execution, Workflow, WorkflowNode } from '../../n8nServer.ts';
import { importChanged, type ChangeNodes } from '../importChanged.ts';
import { example, type Customer, type Stage } from '../../stage.ts';

export interface ExampleRunner {
  /** Publishes an example as it is. */
  run(name: string): Promise<Workflow>;
  /** Imports an example and changes nodes as its notes tell a user. */
  importChanged(name: string, change: ChangeNodes): Promise<Workflow>;
  /** The same, and publishes it. */
  runChanged(name: string, change: ChangeNodes): Promise<Workflow>;
  /** Executes the workflow from one of its triggers, as the button on the canvas does. */
  runByHand(workflow: Workflow, triggerName: string): Promise<Execution>;
  /** A customer whom the service's own agent gives to the team. */
  asksForPerson(name: string): Promise<Customer>;
}

/** Runs examples on the stage; what was published last is retired after each test. */
export function exampleRunner(stage: () => Stage): ExampleRunner {
  let running: Workflow | undefined;
  const api = () => stage().service.api;

  const importExample: ExampleRunner['importChanged'] = (name, change) =>
    importChanged(stage(), example(`${name}.json`), change);

  afterEach(async () => {
    if (running) await stage().retire(running);
    running = undefined;
  });

  return {
    run: async (name) => (running = await stage().run(example(`${name}.json`))),
    importChanged: importExample,
    async runChanged(name, change) {
      const workflow = await importExample(name, change);
      await stage().n8n.activate(workflow.id);
      await stage().receiving(workflow);
      return (running = workflow);
    },
    async runByHand({ id }, triggerName) {
      const manual = async () =>
        (await stage().n8n.executions(id)).filter(
          ({ mode, status }) => mode === 'manual' && !['new', 'running'].includes(status),
        );
      const before = (await manual()).length;
      await stage().n8n.listen(id, triggerName);
      const execution = await stage().until('the execution', async () => (await manual())[before]);
      expect(execution).toMatchObject({ status: 'success' });
      return execution;
    },
    async asksForPerson(name) {
      await api().patch('/api/agent', { enabled: true });
      const customer = await stage().customerWrites('I want to talk to a person', { name });
      const path = `/api/conversations/${customer.conversationId}`;
      await stage().until(
        `${name} to wait`,
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

/** Changes one field of a node "Edit Fields". */
export function setField({ parameters }: WorkflowNode, field: string, value: unknown): void {
  const { assignments } = (parameters as unknown as SetParameters).assignments;
  assignments.find(({ name }) => name === field)!.value = value;
}
