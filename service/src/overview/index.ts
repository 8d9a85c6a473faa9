/** What other subjects may use of overview/; nothing else. */

export { sparkLine } from './charts/sparkLine.ts';
export { readWeek, type DailyCounts } from './readWeek.ts';
