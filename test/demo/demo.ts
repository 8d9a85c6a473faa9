// `npm run demo`: the main job step by step, each step checked. `npm run demo -- --n8n`: with a
// real n8n.
import { parseArgs } from 'node:util';
import { demoWithN8n } from './withN8n.ts';
import { demoWithReceiver } from './withReceiver.ts';
import { checksPassed, failure, stopAtNextCheck, success } from './terminal.ts';

const { values } = parseArgs({ options: { n8n: { type: 'boolean', default: false } } });

// Listens from the start, so that the demo's `finally` blocks stop what it started, whenever Ctrl-C
// comes.
let isStopped = false;
const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isStopped = true;
      stopAtNextCheck();
      resolve();
    });
  }
});

const startedAt = Date.now();
try {
  if (values.n8n) {
    await demoWithN8n(stopped);
  } else {
    await demoWithReceiver();
    success(
      `All ${checksPassed()} checks passed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`,
    );
  }
} catch (error) {
  failure(
    isStopped ? 'Stopped.' : `Failed after ${checksPassed()} checks. ${(error as Error).message}`,
  );
  process.exitCode = isStopped ? 130 : 1;
}
