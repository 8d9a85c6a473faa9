/** What other subjects may use of waits/; nothing else. */

export type { QuestionOfTurn, WaitOfTurn } from './reactions.ts';
export { noteAnswer } from './operations/burst.ts';
export { decideWait } from './operations/decideWait.ts';
export { cancelWait, endReplyWaitOf, endWaitsIn } from './operations/endWait.ts';
export { getWait, noteUndeliverable, viewWait } from './operations/waits.ts';
export { isOpen, MAX_WAIT_NOTE_CHARACTERS, type Wait, type WaitStatus } from './wait.ts';
