import { describeKillsDuringASnapshot } from './killsDuringASnapshot.ts';

describeKillsDuringASnapshot([
  ['right after its publication', { operation: 'rename', file: 'snapshot-2', moment: 'after' }],
  [
    'before the old files are removed',
    { operation: 'remove', file: 'journal-1', moment: 'before' },
  ],
  [
    'in the middle of removing the old files',
    { operation: 'remove', file: 'journal-1', moment: 'after' },
  ],
]);
