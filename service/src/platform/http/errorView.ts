import type { AppError } from './errorCatalogue.ts';

/** The form of every error. JSON leaves out what is undefined. */
export const errorJson = ({ code, message, details }: AppError, requestId: string) => ({
  error: {
    code,
    message,
    param: details.param,
    existing_id: details.existingId,
    request_id: requestId,
  },
});
