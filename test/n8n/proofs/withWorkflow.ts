import { afterAll, beforeAll } from '@jest/globals';
import type { Changes, Credential, Workflow } from '../n8nServer.ts';
import type { Stage } from '../stage.ts';

/**
 * Runs a workflow for the tests of the surrounding describe, and retires it after them.
 * @param connect makes the credential of its nodes; by default they get the stage's
 */
export function withWorkflow(
  stage: () => Stage,
  file: string,
  changes?: Changes,
  connect?: () => Promise<Credential>,
): () => Workflow {
  let running: Workflow | undefined;
  beforeAll(async () => {
    running = await stage().run(file, changes, await connect?.());
  });
  afterAll(async () => {
    if (running) await stage().retire(running);
  });
  return () => {
    if (!running)
      throw new Error(`The workflow of ${file} does not run. See the error of beforeAll.`);
    return running;
  };
}
