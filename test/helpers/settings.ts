// Settings that services of tests have in common.
import { randomInt } from 'node:crypto';

/** For tests that send much from one address. */
export const NO_LIMITS = {
  API_RATE_LIMIT_PER_MINUTE: '0',
  CHAT_RATE_LIMIT_PER_MINUTE: '0',
  WORKSPACE_RATE_LIMIT_PER_MINUTE: '0',
  ADDRESS_BUDGET: '0',
};

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const randomApiKey = (): string =>
  `cs_live_${Array.from({ length: 32 }, () => BASE62[randomInt(62)]).join('')}`;
