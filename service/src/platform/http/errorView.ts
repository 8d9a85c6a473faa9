import type { AppError } from './errorCatalogue.ts';

/** The form of every error. */
export const errorJson = ({ code, message, details }: AppError, requestId: string) => ({
  error: {
    code,
    message,
    ...(details.param === undefined ? {} : { param: details.param }),
    ...(details.existingId === undefined ? {} : { existing_id: details.existingId }),
    request_id: requestId,
  },
});
