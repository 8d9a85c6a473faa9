import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../helpers/program.ts';
import type { Stage } from '../stage.ts';

interface TestResult {
  status: 'OK' | 'Error';
  message: string;
}

/** What a user reads under the credential's form. */
export function provesCredentialTest(stage: () => Stage): void {
  describe('the credential test', () => {
    const testWith = (data: { baseUrl?: string; apiKey?: string }) => {
      const { n8n, service, credential } = stage();
      const { id, name, type } = credential;
      return n8n.rest<TestResult>('POST', '/credentials/test', {
        credentials: {
          id,
          name,
          type,
          data: { baseUrl: service.url, apiKey: service.apiKey, ...data },
        },
      });
    };

    it('accepts the right address and key', async () => {
      expect(await testWith({})).toMatchObject({ status: 'OK' });
    });

    it('says of a wrong key that the key is wrong', async () => {
      const { status, message } = await testWith({ apiKey: `cs_live_${'x'.repeat(32)}` });
      expect(status).toBe('Error');
      expect(message).toMatch(/address is right, but the API key/);
    });

    it('says of an address where nothing listens that it cannot be reached', async () => {
      const { status, message } = await testWith({
        baseUrl: `http://127.0.0.1:${await freePort()}`,
      });
      expect(status).toBe('Error');
      expect(message).not.toMatch(/key/i);
      expect(message).toMatch(/reach|refused|running|nothing/i);
    });

    it('says of an address where something else answers that it is not the service', async () => {
      const { status, message } = await testWith({ baseUrl: stage().n8n.url });
      expect(status).toBe('Error');
      expect(message).toMatch(/not as Conversation Service/);
    });

    it('refuses to send the key over http:// to a host that is not local', async () => {
      const { status, message } = await testWith({ baseUrl: 'http://conversations.example.com' });
      expect(status).toBe('Error');
      expect(message).toMatch(/https/);
    });
  });
}
