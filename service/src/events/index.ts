/** What other subjects may use of events/; nothing else. */

export { sendTestEvent } from './samples.ts';
