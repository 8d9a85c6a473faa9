import { describeKillsDuringASnapshot } from './killsDuringASnapshot.ts';

describeKillsDuringASnapshot([
  ['right after its publication', { operation: 'rename', file: 'snapshot-2', moment: 'after' }],
  [
    'before the old journal is removed',
    { operation: 'remove', file: 'journal-1', moment: 'before' },
  ],
  [
    'right after the old journal is removed',
    { operation: 'remove', file: 'journal-1', moment: 'after' },
  ],
]);
