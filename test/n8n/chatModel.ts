// A language model that a test scripts, for n8n's own AI nodes.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { startModelServer, type ModelRequest, type ModelServer } from '../helpers/modelServer.ts';
import type { N8nServer, WorkflowNode } from './n8nServer.ts';

export interface ChatModel extends Omit<ModelServer, 'close'> {
  /** Gives an OpenAI Chat Model node a credential for this server, and its model. */
  connect(n8n: N8nServer, chatModel: WorkflowNode): Promise<void>;
}

/**
 * A chat-completions server for the tests of the surrounding describe. It answers by `answerBy`
 * with a function of the request, keeps every request, and takes none that OpenAI would refuse:
 * what n8n sent wrong fails the last of these tests.
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

/** The text of the newest message that a model was sent. */
export const lastOf = ({ body: { messages } }: ModelRequest) => messages.at(-1)!.content!;

/** What users wrote, of all that a model was sent. */
export const saidByUsers = ({ body: { messages } }: ModelRequest) =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content!);
