import type { AgentModel, Deferred } from '../agentModel.ts';

/** Leaves every decision to the workflow that is the agent, which gets the turn and answers later. */
export const webhookModel: AgentModel<Deferred> = {
  decidedBy: 'webhook',
  next: async () => ({ type: 'deferred' }),
};
