/** What other subjects may use of overview/; nothing else. */

export { sparkLine } from './charts/sparkLine.ts';
export { readWeek, type WeekOf } from './readWeek.ts';
