/** Orders texts by code units, not by language: nearly the order of SQL's COLLATE "C". */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
