// jest begins with the largest files until it has measured how long each takes. Small files that
// take long come before them, or a run on a clean checkout ends with waiting for one.
import TestSequencer from '@jest/test-sequencer';

const LONG = [
  'contract/postgres.test.ts',
  'service/agent/turns.test.ts',
  'service/app/retentionSteady.test.ts',
  'service/channels/whatsapp/whatsappCrash.test.ts',
  'service/crash/killedWriting.test.ts',
  'service/crash/stopping.test.ts',
  'service/crash/stoppingOnTroubledDisk.test.ts',
  'service/deliveries/hostileReceivers.test.ts',
  'service/deliveries/revivalMany.test.ts',
  'service/team/screens/attempts.test.ts',
];
const isLong = ({ path }) => LONG.some((end) => path.endsWith(end));

export default class extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
