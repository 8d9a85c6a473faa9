/** Orders texts by code units, as SQL with COLLATE "C" nearly does and `localeCompare` does not. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
