/** The nth of many strangers' addresses. */
export const stranger = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
