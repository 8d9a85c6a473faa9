// Keeps pictures of what was to be seen when a test failed.
import { TestEnvironment } from 'jest-environment-node';

export default class extends TestEnvironment {
  async handleTestEvent({ name, test, hook }) {
    if (name === 'test_fn_failure') await this.global.keepPictures?.(test.name);
    if (name === 'hook_failure') await this.global.keepPictures?.(hook.type);
  }
}
