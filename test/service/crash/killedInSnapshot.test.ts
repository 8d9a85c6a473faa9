import { describeKillsDuringASnapshot } from './killsDuringASnapshot.ts';

describeKillsDuringASnapshot([
  ['as the next journal begins', { operation: 'sync', file: 'journal-2', moment: 'before' }],
  ['in the middle of it', { operation: 'write', file: 'snapshot-2', moment: 'half' }],
  [
    'when it is written and not yet published',
    { operation: 'rename', file: 'snapshot-2', moment: 'before' },
  ],
]);
