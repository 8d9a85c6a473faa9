import type { ManualProvider } from '../paymentAdapter.ts';

const DAY_S = 24 * 60 * 60;

/**
 * A page with the amount and the workspace's instructions (a bank account, an address); a person
 * marks it paid.
 */
export const manual: ManualProvider = {
  provider: 'manual',
  label: 'Manual',
  isRemote: false,
  expiresIn: { min: 60, max: 365 * DAY_S, default: 30 * DAY_S },
  refuse: () => null,
  fields: [
    {
      name: 'instructions',
      label: 'Payment instructions',
      help: 'What the customer reads beside the amount: where to send the money and which reference to give.',
      kind: 'lines',
      isRequired: true,
      max: 4000,
    },
  ],
};
