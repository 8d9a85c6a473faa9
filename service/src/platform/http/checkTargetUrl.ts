import { AppError, type ErrorCode, errorWithFix } from './errorCatalogue.ts';
import { OutboundError, type OutboundClient } from '../outbound/outboundClient.ts';

/** The API's error code for each way to refuse an address. */
const CODE_BY_KIND: Partial<Record<OutboundError['kind'], ErrorCode>> = {
  invalid_url: 'target_url_invalid',
  not_https: 'target_url_not_https',
  blocked_address: 'target_url_not_public',
  unresolvable: 'target_url_unresolvable',
};

/** Long enough for the look-ups that are waiting now to end. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Makes the function that checks a target when a subscription or a tool is saved. Each connection
 * checks the target again.
 * @throws target_url_* (422); unavailable (503) when too many names wait to be looked up
 */
export const checkTargetUrlWith =
  (outbound: Pick<OutboundClient, 'checkTarget'>) =>
  async (workspace: { readonly id: string }, url: string, param: string): Promise<void> => {
    try {
      await outbound.checkTarget(url, workspace.id);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.kind === 'busy')
        throw new AppError(
          'unavailable',
          `${param} cannot be checked just now: ${error.message} Try again in a moment; nothing was changed.`,
          { param, retryAfterSeconds: RETRY_AFTER_SECONDS },
        );
      const code = CODE_BY_KIND[error.kind];
      if (!code) throw error;
      throw errorWithFix(code, `${param} cannot be used: ${error.message}`, { param });
    }
  };
