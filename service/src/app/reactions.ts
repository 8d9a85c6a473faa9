import { makePaymentLink } from '../agent/turn/makePaymentLink.ts';
import { wakeAgent } from '../agent/operations/wakeAgent.ts';
import { isAgentOn } from '../agent/operations/settings.ts';
import type { Reactions } from '../conversations/reactions.ts';
import type { Deps } from '../platform/deps.ts';
import { cancelApprovalsIn } from '../tools/operations/completeToolCall.ts';

/** What one subject does when something happens in another, all of it, in the same transaction. */
export const reactionsOf = (deps: Pick<Deps, 'agent'>): Reactions => ({
  // The agent answers once the customer has been quiet for a moment.
  onInbound: async (tx, conversation, now) =>
    void (await wakeAgent(tx, conversation, now.getTime() + deps.agent.quietMs)),
  // What the agent wanted to do no longer fits.
  onClosed: cancelApprovalsIn,
  onHandedBack: async (tx, conversation, now) =>
    void (await wakeAgent(tx, conversation, now.getTime())),
  onCallCompleted: (tx, conversation, now) => wakeAgent(tx, conversation, now.getTime(), true),
  isAgentOn,
  onBuiltInCall: makePaymentLink,
});
