/** E-mail addresses are compared without regard to case. */
export const normalizeEmail = (text: string): string => text.trim().toLowerCase();
