// Node's own globals for every suite, where jest would give each a copy of them. It also tells test
// helpers that something failed, while there is still something to keep.
import { ModuleMocker } from 'jest-mock';

export default class {
  /** jest puts things here that nobody asks for: tests see Node's globals. */
  global = {};
  moduleMocker = new ModuleMocker(globalThis);

  async setup() {
    globalThis.failuresSoFar = 0;
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
  }

  async handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') globalThis.failuresSoFar += 1;
  }

  exportConditions() {
    return ['node'];
  }

  getVmContext() {
    return null;
  }
}
