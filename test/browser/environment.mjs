// When a test fails, keeps pictures of the pages that are open.
import Base from '../environment.mjs';

export default class extends Base {
  async setup() {
    await super.setup();
    globalThis.keepPictures = undefined; // another suite's
  }

  async handleTestEvent(event) {
    await super.handleTestEvent(event);
    const { name, test, hook } = event;
    if (name === 'test_fn_failure') await globalThis.keepPictures?.(test.name);
    if (name === 'hook_failure') await globalThis.keepPictures?.(hook.type);
  }
}
