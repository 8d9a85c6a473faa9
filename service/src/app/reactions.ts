import { makePaymentLink } from '../agent/turn/makePaymentLink.ts';
import { handOverOnRequest } from '../agent/operations/handOverOnRequest.ts';
import { wakeAgent } from '../agent/operations/wakeAgent.ts';
import { giveUpWait } from '../agent/webhook/operations/giveUpWait.ts';
import { owesResult } from '../agent/turn/loadTurn.ts';
import { anyAsksForPerson } from '../agent/keyword/phrases.ts';
import { isEnabled } from '../agent/agentSettings.ts';
import { continueTurn, resumeTurn, suspendTurn } from '../agent/webhook/operations/restTurn.ts';
import { findAgentSettings, isAgentOn } from '../agent/operations/settings.ts';
import { supersedeTurns } from '../agent/webhook/operations/turns.ts';
import { waitForTeam } from '../conversations/index.ts';
import type { Reactions } from '../conversations/reactions.ts';
import type { Deps } from '../platform/deps.ts';
import { cancelApprovalsIn } from '../tools/operations/completeToolCall.ts';
import { endReplyWaitOf, endWaitsIn, noteAnswer, noteUndeliverable } from '../waits/index.ts';

/** Everything that one subject does when something happens in another, in the same transaction. */
export const reactionsOf = (deps: Pick<Deps, 'agent' | 'messaging'>): Reactions => ({
  // The agent answers, or the answer to a wait is judged, once the customer has been quiet for a moment.
  async onInbound(tx, conversation, now) {
    const { quietMs } = deps.agent;
    if (conversation.replyWaitId) {
      await noteAnswer(tx, conversation, quietMs, now);
      return conversation;
    }
    const willAgentAnswer = await wakeAgent(tx, conversation, now, { quietMs });
    return willAgentAnswer ? conversation : waitForTeam(conversation, now);
  },
  // What the agent wanted to do, and what others waited for, no longer fits.
  async onClosed(tx, conversation, now) {
    const closed = await cancelApprovalsIn(tx, conversation, now);
    await supersedeTurns(tx, closed, now);
    return endWaitsIn(tx, { reactions: this }, closed, now);
  },
  async onLeftToPerson(tx, conversation, now) {
    await supersedeTurns(tx, conversation, now);
    return endReplyWaitOf(tx, { reactions: this }, conversation, now);
  },
  onUndeliverable: noteUndeliverable,
  async onHandedBack(tx, conversation, now) {
    if (await wakeAgent(tx, conversation, now)) return { ...conversation, waitingSince: null };
    // The agent is off: only the team can tell the customer how a call ended.
    return (await owesResult(tx, conversation)) ? waitForTeam(conversation, now) : conversation;
  },
  onCallCompleted: (tx, conversation, now) =>
    wakeAgent(tx, conversation, now, { hasEndedCall: true }),
  isAgentOn,
  onBuiltInCall: makePaymentLink,
  onWaitOpened: suspendTurn,
  onWaitEnded: resumeTurn,
  onWaitCollected: (tx, id, now) => continueTurn(tx, deps, id, now),
  onResumeGivenUp(tx, wait, conversation, now) {
    return giveUpWait(tx, { ...deps, reactions: this }, wait, conversation, now);
  },
  onPersonAsked(tx, conversation, now) {
    return handOverOnRequest(tx, { ...deps, reactions: this }, conversation, now);
  },
  async asksForPerson(tx, { workspaceId, status }, messages) {
    const settings = await findAgentSettings(tx, workspaceId);
    return (
      status === 'ai_active' &&
      isEnabled(settings) &&
      anyAsksForPerson(messages, settings.handoverPhrases)
    );
  },
  agentLanguages: async (tx, workspaceId) => (await findAgentSettings(tx, workspaceId)).languages,
});
