/** What other subjects may use of tools/; nothing else. */

export { approvalPayload, emitRequested } from './calls/approval.ts';
export { type ApprovalOutcome, countApproval, countToolCall, UNKNOWN_TOOL } from './counted.ts';
export {
  type BuiltInTool,
  CREATE_PAYMENT_LINK,
  paymentLinkResult,
  paymentLinkTool,
  readPaymentLink,
} from './builtInTools.ts';
export { answerCleaner } from './calls/readAnswer.ts';
export { signedPost } from './calls/toolRequest.ts';
export { resultExcerpt } from './calls/maskedResult.ts';
export {
  complete,
  isBuiltIn,
  isComplete,
  newToolCall,
  refuse,
  resultBeginning,
  succeed,
  TEST_CONVERSATION_ID,
  type ToolCall,
} from './calls/toolCall.ts';
export { ARGUMENT_LIMITS, compileParameters } from './definition/parametersSchema.ts';
export { resolveReference } from './definition/schemaDocument.ts';
export type { Tool } from './tool.ts';
export { findLiveTools } from './operations/tools.ts';
export { parseUrlTemplate } from './definition/urlTemplate.ts';
export { cancelApprovals, decideToolCall } from './operations/completeToolCall.ts';
export { enqueueToolCall } from './operations/toolCalls.ts';
