// A language model for n8n's own AI nodes. A test scripts its answers.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { startModelServer, type ModelRequest, type ModelServer } from '../helpers/modelServer.ts';
import type { N8nServer, WorkflowNode } from './n8nServer.ts';

export interface ChatModel extends Omit<ModelServer, 'close'> {
  /** Gives an OpenAI Chat Model node a credential for this server, and the name of its model. */
  connect(n8n: N8nServer, chatModel: WorkflowNode): Promise<void>;
}

/**
 * A chat-completions server for the tests of the surrounding describe. A test gives it a function
 * with `answerBy` that answers each request. The run fails if n8n sends a request that OpenAI would
 * refuse.
 */
export function withChatModel(): () => ChatModel {
  let server: ModelServer | undefined;
  beforeAll(async () => {
    server = await startModelServer({ isOpenAi: true });
  });
  afterAll(async () => {
    await server?.close();
    expect(server?.faults).toEqual([]);
  });
  return () => {
    const model = server!;
    const connect = async (n8n: N8nServer, chatModel: WorkflowNode) => {
      const { id, name } = await n8n.createCredential(
        'openAiApi',
        { apiKey: model.apiKey, url: model.url },
        'A model on this machine',
      );
      chatModel.credentials = { openAiApi: { id, name } };
      chatModel.parameters.model = { __rl: true, mode: 'id', value: model.model };
    };
    return Object.assign(model, { connect });
  };
}

/** The text of the last message in a request. */
export const lastText = ({ body: { messages } }: ModelRequest) => messages.at(-1)!.content!;

/** The texts of a request that users wrote. */
export const userTexts = ({ body: { messages } }: ModelRequest) =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content!);
