// Tells test helpers that something failed, while there is still something to keep.
import { TestEnvironment } from 'jest-environment-node';

export default class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.failuresSoFar = 0;
  }

  async handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.global.failuresSoFar += 1;
  }
}
