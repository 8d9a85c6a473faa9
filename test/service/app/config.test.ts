import { describe, expect, it } from '@jest/globals';
import { ConfigError, readConfig } from '../../../service/src/app/config.ts';

describe('configuration', () => {
  it('has the documented defaults', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      publicUrl: null,
      dataDir: './data',
      allowedNetworks: [],
      nat64Prefixes: [],
      insecureTargets: false,
      n8nUrl: null,
      trustedProxies: ['127.0.0.0/8', '::1/128'],
      deliveryTimeoutMs: 10_000,
      deliveryRetryDelaysMs: [5000, 60_000, 600_000],
      retentionDays: 30,
      apiRateLimitPerMinute: 6000,
      workspaceRateLimitPerMinute: 12_000,
      chatRateLimitPerMinute: 30,
      addressBudget: 1,
      chatFrameOrigins: [],
      logLevel: 'info',
    });
  });

  it('takes origins in any spelling that means the same', () =>
    expect(
      readConfig({
        CHAT_FRAME_ORIGINS:
          ' HTTPS://Shop.example.com:443/ ,https://münchen.example:8443, http://localhost:8080,',
      }).chatFrameOrigins,
    ).toEqual([
      'https://shop.example.com',
      'https://xn--mnchen-3ya.example:8443',
      'http://localhost:8080',
    ]));

  it('writes the address of the service as browsers do, since links begin with it', () =>
    expect(readConfig({ PUBLIC_URL: ' HTTPS://Chat.Example.com:443// ' }).publicUrl).toBe(
      'https://chat.example.com',
    ));

  it('treats an empty variable as not set', () =>
    expect(readConfig({ PORT: '', DATABASE_URL: '' }).port).toBe(3000));

  it('refuses DATABASE_URL without ENCRYPTION_KEY, and ROLE api or worker without DATABASE_URL or PUBLIC_URL', () => {
    const shared = {
      DATABASE_URL: 'postgres://localhost/db',
      ENCRYPTION_KEY: 'a'.repeat(64),
      ROLE: 'worker',
    };
    expect(() => readConfig(shared)).toThrow(/^PUBLIC_URL is missing/);
    expect(
      readConfig({ ...shared, PUBLIC_URL: 'https://conversations.example.com/' }),
    ).toMatchObject({ role: 'worker', publicUrl: 'https://conversations.example.com' });
    expect(() => readConfig({ ROLE: 'api' })).toThrow(/^ROLE api needs DATABASE_URL/);
    expect(() => readConfig({ DATABASE_URL: 'postgres://localhost/db' })).toThrow(
      /^ENCRYPTION_KEY is missing/,
    );
  });

  it.each(['5s,1m,10m', '5000', '1,2,soon'])('asks for three waits instead of %s', (text) =>
    expect(() => readConfig({ DELIVERY_RETRY_DELAYS_MS: text })).toThrow(
      'DELIVERY_RETRY_DELAYS_MS must be three waits in milliseconds separated by commas, such as 5000,60000,600000.',
    ),
  );

  it.each([
    ['PORT', '70000'],
    ['PORT', 'http'],
    ['PUBLIC_URL', 'example.com'],
    ['PUBLIC_URL', 'ftp://example.com'],
    ['PUBLIC_URL', 'https://example.com/?team=1'],
    ['PUBLIC_URL', 'https://example.com/#'],
    ['PUBLIC_URL', 'https://user:hunter2@example.com'],
    ['DATABASE_URL', 'mysql://user:hunter2@host/db'],
    ['DATABASE_URL', 'postgres://user:hunter2@host:99999/db'],
    ['DATABASE_URL', 'user:hunter2@host'],
    ['DATABASE_SCHEMA', 'Bad name'],
    ['DATABASE_CONNECTIONS', '1'],
    ['ROLE', 'server'],
    ['LLM_BASE_URL', 'localhost:11434'],
    ['LLM_API_KEY', 'sk-test'], // without LLM_BASE_URL
    ['LLM_MODEL', 'some-model'], // without LLM_BASE_URL
    ['LLM_TIMEOUT_MS', '5'],
    ['AGENT_QUIET_MS', '-1'],
    ['TOOL_RETRY_DELAYS_MS', '500'],
    ['APPROVAL_EXPIRES_MS', '0'],
    ['BOOTSTRAP_WORKSPACE', 'x'.repeat(101)],
    ['ENCRYPTION_KEY', 'short'],
    ['CHAT_FRAME_ORIGINS', 'shop.example.com'],
    ['CHAT_FRAME_ORIGINS', 'https://shop.example.com/chat'],
    ['CHAT_FRAME_ORIGINS', 'https://shop.example.com?'],
    ['CHAT_FRAME_ORIGINS', 'https://user@shop.example.com'],
    ['CHAT_FRAME_ORIGINS', 'http://shop.example.com'],
    ['CHAT_FRAME_ORIGINS', 'https://*.example.com'],
    ['CHAT_FRAME_ORIGINS', 'https://shop.example.com;script-src'],
    ['CHAT_FRAME_ORIGINS', "https://shop.example.com,'self'"],
    ['CHAT_FRAME_ORIGINS', '*'],
    ['CHAT_FRAME_ORIGINS', 'null'],
    ['ALLOWED_NETWORKS', '127.0.0.1'],
    ['ALLOWED_NETWORKS', '10.0.0.0/8,all'],
    ['NAT64_PREFIXES', '64:ff9b::'],
    ['NAT64_PREFIXES', '64:ff9b::/97'],
    ['NAT64_PREFIXES', '10.0.0.0/32'],
    ['INSECURE_TARGETS', 'yes'],
    ['N8N_URL', 'ftp://n8n'],
    ['N8N_URL', 'http://user:secret@n8n:5678'],
    ['N8N_URL', 'http://n8n:0'],
    ['TRUSTED_PROXIES', '10.0.0.1'],
    ['TRUSTED_PROXIES', 'loopback'],
    ['TRUSTED_PROXIES', '127.0.0.0/8,0.0.0.0/0'],
    ['TRUSTED_PROXIES', '::/0'],
    ['DELIVERY_TIMEOUT_MS', '0'],
    ['DELIVERY_RETRY_DELAYS_MS', '1,2'],
    ['DELIVERY_RETRY_DELAYS_MS', '1,2,soon'],
    ['RETENTION_DAYS', '0'],
    ['CONVERSATION_RETENTION_DAYS', '-1'],
    ['CONVERSATION_RETENTION_DAYS', 'never'],
    ['API_RATE_LIMIT_PER_MINUTE', '-1'],
    ['CHAT_RATE_LIMIT_PER_MINUTE', 'many'],
    ['WORKSPACE_RATE_LIMIT_PER_MINUTE', '-1'],
    ['ADDRESS_BUDGET', '1e3'],
    ['ADDRESS_BUDGET', '1001'],
    ['BOOTSTRAP_API_KEY', 'cs_live_short'],
    ['BOOTSTRAP_ADMIN_EMAIL', 'nobody'],
    ['BOOTSTRAP_ADMIN_EMAIL', 'a@example.com'], // without BOOTSTRAP_ADMIN_PASSWORD
    ['LOG_LEVEL', 'loud'],
  ])(
    '%s=%s stops the start with one line that names the variable and shows no password',
    (name, value) => {
      let message = '';
      try {
        readConfig({ [name]: value });
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        ({ message } = error as Error);
      }
      expect(message).toMatch(new RegExp(`^${name}.*\\.$`));
      expect(message).not.toContain('hunter2');
    },
  );
});
