import type { Json } from '../platform/json.ts';
import { decisionJson } from '../platform/decision.ts';
import { maskJson, maskText } from '../platform/masking.ts';
import type { ToolCallView } from './operations/toolCalls.ts';
import { maskJsonText, resultExcerpt, type InTurn } from './calls/maskedResult.ts';
import type { Tool } from './tool.ts';
import { LARGE_RESULT_CHARACTERS, TEST_CONVERSATION_ID } from './calls/toolCall.ts';
import { loopShare } from '../platform/limits/loopShare.ts';
import { ownerJson } from '../platform/http/ownerView.ts';
import { WrittenJson } from '../platform/http/writtenJson.ts';

/** A tool as the API shows it: never a secret. */
export const toolJson = (tool: Tool) => ({
  id: tool.id,
  name: tool.name,
  description: tool.description,
  parameters: tool.parameters as Record<string, unknown>,
  kind: tool.kind,
  endpoint: tool.endpoint,
  request_template: tool.requestTemplate as Record<string, unknown> | null,
  secret_names: Object.keys(tool.sealedTemplateSecrets),
  timeout: tool.timeoutSeconds,
  ask_before_running: tool.askBeforeRunning,
  read_only: tool.readOnly ?? false,
  example_phrases: [...(tool.examplePhrases ?? [])],
  status: tool.status,
  tested_at: tool.testedAt,
  going_live: tool.goLiveCallId !== null,
  owner: tool.publication ? ownerJson(tool.publication.owner) : null,
  revision: tool.publication?.revision ?? 0,
  last_test: tool.lastTest && {
    tool_call_id: tool.lastTest.toolCallId,
    succeeded: tool.lastTest.succeeded,
    error: tool.lastTest.error,
    at: tool.lastTest.at,
  },
  created_at: tool.createdAt,
  updated_at: tool.updatedAt,
});

const AGENT_OFF =
  'The agent is off, so it calls no tool. Turn it on when customers may get its answers: on the Agent screen, with PATCH /api/agent {"enabled": true}, or in n8n with Agent → Turn On.';

/** Adds what somebody who takes a tool live has to know. */
export const withNotice = <Answer extends object>(answer: Answer, isAgentOn: boolean) => ({
  ...answer,
  notice: isAgentOn ? null : AGENT_OFF,
});

interface DefinitionNames {
  readonly timeout?: unknown;
  readonly ask_before_running?: unknown;
  readonly read_only?: unknown;
  readonly example_phrases?: unknown;
}

/** Renames the API's fields of a definition to those of `ToolDefinition`. */
export function toDefinition<Body extends DefinitionNames>({
  timeout,
  ask_before_running,
  read_only,
  example_phrases,
  ...others
}: Body) {
  return {
    ...others,
    timeoutSeconds: timeout as Body['timeout'],
    askBeforeRunning: ask_before_running as Body['ask_before_running'],
    readOnly: read_only as Body['read_only'],
    examplePhrases: example_phrases as Body['example_phrases'],
  };
}

/**
 * A tool call with its whole result, in which the contact's details are masked. The result stays
 * JSON text, and a long one is masked in the workspace's share of the event loop.
 */
export async function toolCallJson(view: ToolCallView) {
  return callJson(view, new WrittenJson(await resultText(view)));
}

async function resultText({ call, contact }: ToolCallView): Promise<string> {
  const { resultJson, workspaceId } = call;
  if (resultJson === null || contact === null) return resultJson ?? 'null';
  const inTurn: InTurn =
    resultJson.length < LARGE_RESULT_CHARACTERS
      ? async (mask) => mask()
      : (mask) => loopShare.run(workspaceId, mask);
  return maskJsonText(resultJson, contact, inTurn);
}

function callJson({ call, contact }: ToolCallView, result: unknown) {
  const mask = (text: string) => (contact === null ? text : maskText(text, contact));
  const maskAll = (json: Json) => (contact === null ? json : maskJson(json, contact));
  return {
    tool_call_id: call.id,
    tool: call.tool,
    arguments: maskAll(call.arguments) as Record<string, unknown>,
    conversation_id: call.conversationId ?? TEST_CONVERSATION_ID,
    status: call.status,
    attempts: call.attempts,
    http_status: call.httpStatus,
    duration_ms: call.durationMs,
    result,
    error: call.error && { type: call.error.type, message: mask(call.error.message) },
    decision: call.decision && decisionJson(call.decision, mask),
    expires_at: call.expiresAt,
    created_at: call.createdAt,
    finished_at: call.finishedAt,
  };
}

const EXCERPT_BYTES = 8 * 1024;

/** A tool call in a list, where a long result is cut and becomes text. */
export function toolCallListJson({ call, contact }: ToolCallView) {
  const { text, isCut } = resultExcerpt(call, contact, EXCERPT_BYTES);
  return callJson({ call, contact }, isCut ? `${text}…` : (JSON.parse(text) as Json));
}
