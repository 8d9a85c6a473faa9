import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { recordEvents, TRIGGER, type Stage } from '../../stage.ts';

/** n8n shows the message of an error and nothing else. */
export function provesPublishingErrors(stage: () => Stage): void {
  describe('publishing to a service that may not call n8n yet', () => {
    let service: ServiceProcess;
    beforeAll(async () => {
      service = await startServiceProcess({ env: { ALLOWED_NETWORKS: '' } });
    });
    afterAll(() => service?.close());

    it('shows in n8n what to do at the service, and so does executing the step', async () => {
      const { n8n } = stage();
      const { url: baseUrl, apiKey } = service;
      const credential = await n8n.createCredential('conversationServiceApi', { baseUrl, apiKey });
      const workflow = await n8n.importWorkflow(recordEvents, credential);
      await n8n.activate(workflow.id);
      const message = await stage().until('the error', () => n8n.publishingError(workflow.id));
      const fix = `Conversation Service may not call n8n at ${n8n.url} yet. Choose where n8n runs under Settings of the service (${baseUrl}/settings), or set N8N_URL of the service.`;
      expect(message).toContain(`${fix} Then publish again.`);
      await expect(n8n.listen(workflow.id, TRIGGER)).rejects.toThrow(
        `${fix} Then execute the step again.`,
      );
      await n8n.deactivate(workflow.id);
    });
  });
}
