// The customer's messages that the service has not confirmed. They are sent in order, until they
// arrive. A message that is refused waits for a click; after a reload it is sent once more.
import { endableWait, waitAfter } from './streams.js';

/**
 * @param deliver sends one message; throws a Refusal, or another error when the service cannot be
 * reached
 * @param onState gets the message, its state (`sending`, `waiting` for a retry, `failed` or `sent`),
 * the error, and how long it waits
 */
export function createOutbox({ storage, deliver, onState }) {
  const queue = [];
  let isBusy = false;
  const { wait, end: endWait } = endableWait();

  async function work() {
    if (isBusy) return;
    isBusy = true;
    for (let failures = 0; queue.length > 0; ) {
      const message = queue[0];
      onState(message, 'sending');
      try {
        await deliver(message);
        storage.forgetUnsent(message.id);
        queue.shift();
        onState(message, 'sent');
        failures = 0;
      } catch (error) {
        if (error.status !== undefined && !error.isPassing) {
          queue.shift();
          onState(message, 'failed', error);
          continue;
        }
        const waitMs = error.retryAfterMs ?? waitAfter(failures++);
        onState(message, 'waiting', error, waitMs);
        await wait(waitMs);
      }
    }
    isBusy = false;
  }

  const add = (message) => {
    if (queue.some(({ id }) => id === message.id)) return endWait();
    storage.keepUnsent(message);
    queue.push(message);
    onState(message, 'sending');
    void work();
  };

  addEventListener('online', endWait);
  return { add, retryNow: endWait };
}
