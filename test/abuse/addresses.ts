/** The address of the nth of many strangers. */
export const strangerAddress = (n: number): string =>
  `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
