// Node's own globals for every suite, where jest would give each a copy of them. It also tells test
// helpers that something failed, while there is still something to keep.
import { setImmediate as oneTurn } from 'node:timers/promises';
import { ModuleMocker } from 'jest-mock';

export default class {
  /** jest writes its globals here; suites have theirs from runner.mjs. */
  global = {};
  moduleMocker = new ModuleMocker(globalThis);
  #exit = process.exit;

  async setup() {
    globalThis.failuresSoFar = 0;
    // It would end jest, or a worker that jest starts again, and pass.
    process.exit = (code) => {
      throw new Error(`A test called process.exit(${code})`);
    };
  }

  async teardown() {
    process.exit = this.#exit;
    this.moduleMocker.restoreAllMocks();
  }

  async handleTestEvent({ name, describeBlock }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') globalThis.failuresSoFar += 1;
    // Node tells of an unhandled rejection a turn later, when jest-circus would no longer listen.
    if (name === 'run_describe_finish' && !describeBlock.parent) await oneTurn();
  }

  exportConditions() {
    return ['node'];
  }

  getVmContext() {
    return null;
  }
}
