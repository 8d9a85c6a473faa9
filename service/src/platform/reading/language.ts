/** The languages that the service reads, and in which it has sentences of its own. */
export const LANGUAGES = ['en', 'es', 'pt'] as const;
export type Language = (typeof LANGUAGES)[number];
