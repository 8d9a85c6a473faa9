/** What other subjects may use of waits/; nothing else. */

export { noteAnswer } from './operations/burst.ts';
export { cancelWait } from './operations/cancelWait.ts';
export { decideWait } from './operations/decideWait.ts';
export { endReplyWaitOf, endWaitsIn } from './operations/endWait.ts';
export { noteUndeliverable } from './operations/undeliverable.ts';
export { getWait } from './operations/waits.ts';
export { isOpen, MAX_WAIT_NOTE_CHARACTERS, type Wait, type WaitStatus } from './wait.ts';
