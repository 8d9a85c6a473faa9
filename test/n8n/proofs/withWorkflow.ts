import { afterAll, beforeAll } from '@jest/globals';
import type { Workflow } from '../n8nServer.ts';
import type { Stage } from '../stage.ts';

/** Runs a workflow for the tests of the surrounding describe, and retires it after them. */
export function withWorkflow(
  stage: () => Stage,
  file: string,
  triggerParameters?: Record<string, unknown>,
): () => Workflow {
  let running: Workflow | undefined;
  beforeAll(async () => {
    running = await stage().run(file, triggerParameters);
  });
  afterAll(async () => {
    if (running) await stage().retire(running);
  });
  return () => {
    if (!running)
      throw new Error(`The workflow of ${file} does not run; see the error of beforeAll.`);
    return running;
  };
}
