/** The languages that the service reads and writes by itself: it has sentences of its own in each. */
export const LANGUAGES = ['en', 'es', 'pt'] as const;
export type Language = (typeof LANGUAGES)[number];
