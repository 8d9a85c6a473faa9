// Tells test helpers that something failed, while there is still something to keep.
import { setFlagsFromString } from 'node:v8';
import { TestEnvironment } from 'jest-environment-node';

// V8 would keep what it compiled, and with it 20 MB of each suite, though no other suite can use
// it: after fifty suites a worker spends more time on collecting garbage than on tests.
setFlagsFromString('--no-compilation-cache');

export default class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.failuresSoFar = 0;
  }

  async handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.global.failuresSoFar += 1;
  }
}
