import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Credential, N8nServer } from '../../n8nServer.ts';
import type { Stage } from '../../stage.ts';

export interface SecondN8n {
  readonly n8n: N8nServer;
  /** In the second n8n, for the same workspace of the service. */
  readonly credential: Credential;
  /** Waits for the error that the second n8n shows when a workflow cannot be published. */
  refusal(workflowId: string): Promise<string>;
}

/** Starts one second n8n for all of these proofs, since that takes long, and closes it then. */
export function withSecondN8n(stage: () => Stage, proves: (second: () => SecondN8n) => void): void {
  describe('beside a second n8n', () => {
    let second: SecondN8n | undefined;

    beforeAll(async () => {
      const n8n = await stage().startAnotherN8n();
      const { url: baseUrl, apiKey } = stage().service;
      const credential = await n8n.createCredential('conversationServiceApi', { baseUrl, apiKey });
      const refusal = (workflowId: string) =>
        stage().until('the error of the activation', () => n8n.publishingError(workflowId));
      second = { n8n, credential, refusal };
    }, 300_000);
    afterAll(() => second?.n8n.close());

    proves(() => second!);
  });
}
