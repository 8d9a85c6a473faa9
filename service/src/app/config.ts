import { z } from 'zod';
import { readN8nOrigin } from '../team/n8nAddress.ts';
import { API_KEY_PATTERN } from '../platform/security/tokens.ts';
import { parseEncryptionKey } from '../platform/security/encryptionKey.ts';
import { readAs } from '../platform/http/schemas.ts';
import { passwordSchema } from '../team/password.ts';

/** The environment, parsed and checked once. */

const integer = (min: number, max: number, rule = 'must be a whole number') =>
  z
    .string()
    .regex(/^\d+$/, rule)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const factor = (max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'must be a number such as 1, 2.5 or 0')
    .transform(Number)
    .pipe(z.number().max(max, `must be at most ${max}`));

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);

const isKey = (text: string) => {
  try {
    return parseEncryptionKey(text, 'ENCRYPTION_KEY').length > 0;
  } catch {
    return false;
  }
};

/** For one call to Meta or Stripe. */
const PROVIDER_TIMEOUT_MS = 20_000;

const POSTGRES_URL = /^postgres(ql)?:\/\/\S+$/;
const isPostgresUrl = (text: string): boolean => {
  const url = URL.parse(text);
  if (!url || !POSTGRES_URL.test(text)) return false;
  try {
    // Throws when a `%` in one of them is not written as %25.
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
};

/**
 * A page's origin as a browser writes it; null when the text is anything else. http:// is allowed
 * for this machine only.
 */
function pageOrigin(text: string): string | null {
  const url = URL.parse(text);
  if (!url || url.href !== `${url.origin}/`) return null;
  if (!/^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(url.origin)) return null;
  return url.protocol === 'https:' || /^(localhost|127\.0\.0\.1|.+\.localhost)$/.test(url.hostname)
    ? url.origin
    : null;
}

const pageOrigins = list.pipe(
  z.array(
    readAs(
      pageOrigin,
      'must be origins separated by commas, such as https://shop.example.com (scheme, host and port alone; http:// for localhost only)',
    ),
  ),
);

const network = (examples: string) =>
  z.union([z.cidrv4(), z.cidrv6()], `must be CIDRs separated by commas, such as ${examples}`);

/** A range that covers every address would let visitors choose the address that they come from. */
const proxyNetworks = list.pipe(
  z.array(
    network('127.0.0.0/8,::1/128,172.30.77.2/32').refine(
      (cidr) => !cidr.endsWith('/0'),
      'must not trust every address: name the proxies, such as 172.30.77.2/32',
    ),
  ),
);

/** The prefix lengths are those of RFC 6052. */
const nat64Prefixes = list.pipe(
  z.array(
    z
      .cidrv6('must be IPv6 prefixes separated by commas, such as 2001:db8:64::/96')
      .refine(
        (prefix) => /\/(32|40|48|56|64|96)$/.test(prefix),
        'must have a length of 32, 40, 48, 56, 64 or 96 bits, such as 2001:db8:64::/96',
      ),
  ),
);

/** Waits before further attempts. @param countInWords the number of waits, such as `four` */
function waits(countInWords: string, maxMs: number, byDefault: number[]) {
  const rule = `must be ${countInWords} waits in milliseconds separated by commas, such as ${byDefault.join(',')}`;
  return list
    .pipe(z.array(integer(0, maxMs, rule)).length(byDefault.length, rule))
    .default(byDefault);
}

/** A base URL as a browser writes it, without a `/` at its end; null for any other text. */
function readBaseUrl(text: string): string | null {
  const url = URL.parse(text);
  const base = url && `${url.origin}${url.pathname}`;
  return url?.href === base && /^https?:$/.test(url.protocol) ? base.replace(/\/+$/, '') : null;
}

const httpUrl = readAs(
  readBaseUrl,
  'must be an http(s):// address, without a user name, ? or #, such as https://service.example.com',
);

const n8nUrl = readAs(
  readN8nOrigin,
  'must be the address of n8n, such as http://n8n:5678 or https://n8n.example.com',
);

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: integer(0, 65_535).default(3000),
  PUBLIC_URL: httpUrl.optional(),
  DATA_DIR: z.string().min(1).default('./data'),
  DATABASE_URL: z
    .string()
    .refine(
      isPostgresUrl,
      'must be the address of a PostgreSQL database, such as postgres://user:password@host:5432/database, with % @ : / ? # in a password written as %25 %40 %3A %2F %3F %23',
    ) // never shown: it holds a password
    .optional(),
  DATABASE_SCHEMA: z
    .string()
    .regex(
      /^[a-z_][a-z0-9_]{0,39}$/,
      'must be a lower-case name of at most 40 letters, digits and _',
    )
    .default('conversation_service'),
  DATABASE_CONNECTIONS: integer(2, 1000).default(10),
  ROLE: z.enum(['all', 'api', 'worker'], 'must be all, api or worker').default('all'),
  LLM_BASE_URL: httpUrl.optional(),
  LLM_API_KEY: z.string().optional(),
  LLM_MODEL: z.string().max(200, 'must have at most 200 characters').optional(),
  LLM_TIMEOUT_MS: integer(100, 600_000).default(60_000),
  AGENT_QUIET_MS: integer(0, 60_000).default(800),
  GRAPH_API_URL: httpUrl.default('https://graph.facebook.com'),
  GRAPH_API_VERSION: z
    .string()
    .regex(/^v\d{1,3}\.\d{1,2}$/, 'must be a version such as v24.0')
    .default('v24.0'),
  STRIPE_API_URL: httpUrl.default('https://api.stripe.com'),
  CHANNEL_RETRY_DELAYS_MS: waits('four', 3_600_000, [2000, 10_000, 60_000, 300_000]),
  ENCRYPTION_KEY: z
    .string()
    .refine(
      isKey,
      'must be 32 random bytes in base64 or hex, such as `openssl rand -base64 32` prints',
    )
    .optional(),
  ALLOWED_NETWORKS: list.pipe(z.array(network('127.0.0.0/8,10.0.0.0/8'))).default([]),
  N8N_URL: n8nUrl.optional(),
  NAT64_PREFIXES: nat64Prefixes.default([]),
  TRUSTED_PROXIES: proxyNetworks.default(['127.0.0.0/8', '::1/128']),
  INSECURE_TARGETS: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .transform((text) => text === 'true'),
  DELIVERY_TIMEOUT_MS: integer(100, 120_000).default(10_000),
  DELIVERY_RETRY_DELAYS_MS: waits('three', 7 * 24 * 3_600_000, [5000, 60_000, 600_000]),
  TOOL_RETRY_DELAYS_MS: waits('two', 60_000, [500, 2000]),
  APPROVAL_EXPIRES_MS: integer(1000, 365 * 24 * 3_600_000).default(24 * 3_600_000),
  RETENTION_DAYS: integer(1, 3650).default(30),
  CONVERSATION_RETENTION_DAYS: integer(0, 36_500).default(0),
  API_RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000).default(6000),
  WORKSPACE_RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000).default(12_000),
  CHAT_RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000).default(30),
  ADDRESS_BUDGET: factor(1000).default(1),
  CHAT_FRAME_ORIGINS: pageOrigins.default([]),
  METRICS_TOKEN: z
    .string()
    .regex(
      /^[\x21-\x7e]{16,256}$/,
      'must be 16 to 256 visible ASCII characters, such as `openssl rand -hex 32` prints',
    )
    .optional(),
  BOOTSTRAP_ADMIN_EMAIL: z.email('must be an e-mail address').optional(),
  BOOTSTRAP_ADMIN_PASSWORD: passwordSchema.optional(),
  BOOTSTRAP_API_KEY: z
    .string()
    .regex(API_KEY_PATTERN, 'must be cs_live_ and 32 letters or digits')
    .optional(),
  BOOTSTRAP_WORKSPACE: z.string().max(100, 'must have at most 100 characters').optional(),
  LOG_LEVEL: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be one of fatal, error, warn, info, debug, trace, silent',
    )
    .default('info'),
});

type Environment = z.output<typeof environment>;

/** The names of all settings. */
export const SETTINGS: readonly string[] = Object.keys(environment.shape);

/** What a process does: answers requests (`api`), works on what is queued (`worker`), or both. */
export type Role = 'all' | 'api' | 'worker';

/** What `readConfig` returns. */
export type Config = ReturnType<typeof readConfig>;

/** An environment that cannot be used. The message is one line that names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads the settings. An empty variable counts as not set. @throws ConfigError */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const values = parse(env);
  assertConsistent(values);
  return {
    host: values.HOST,
    port: values.PORT,
    /** Null: `http://localhost:<port>`, with the port in use. */
    publicUrl: values.PUBLIC_URL ?? null,
    dataDir: values.DATA_DIR,
    /** Null: the embedded store in `dataDir`. */
    database:
      values.DATABASE_URL === undefined
        ? null
        : {
            /** Contains a password. */
            url: values.DATABASE_URL,
            /** The schema of the tables. */
            schema: values.DATABASE_SCHEMA,
            /** The most connections open at once, not counting the one that listens for changes. */
            connections: values.DATABASE_CONNECTIONS,
          },
    role: values.ROLE,
    encryptionKey: values.ENCRYPTION_KEY,
    allowedNetworks: values.ALLOWED_NETWORKS,
    nat64Prefixes: values.NAT64_PREFIXES,
    insecureTargets: values.INSECURE_TARGETS,
    /** The origin of n8n, which decides instead of the stored one. Null: the stored one decides. */
    n8nUrl: values.N8N_URL ?? null,
    /** CIDRs of the proxies whose X-Forwarded-For names the visitor's address. */
    trustedProxies: values.TRUSTED_PROXIES,
    deliveryTimeoutMs: values.DELIVERY_TIMEOUT_MS,
    deliveryRetryDelaysMs: values.DELIVERY_RETRY_DELAYS_MS,
    /** Before a tool call's second and third attempt. */
    toolRetryDelaysMs: values.TOOL_RETRY_DELAYS_MS,
    approvalExpiresMs: values.APPROVAL_EXPIRES_MS,
    /** How long a customer must be quiet before the agent answers. */
    agentQuietMs: values.AGENT_QUIET_MS,
    /** Null: the built-in keyword agent. */
    llm: readLlm(values),
    llmTimeoutMs: values.LLM_TIMEOUT_MS,
    channels: {
      graphApiUrl: `${values.GRAPH_API_URL}/${values.GRAPH_API_VERSION}`,
      timeoutMs: PROVIDER_TIMEOUT_MS,
    },
    /** Before the second and later attempts to send a message to a channel. */
    channelRetryDelaysMs: values.CHANNEL_RETRY_DELAYS_MS,
    payments: {
      stripeApiUrl: values.STRIPE_API_URL,
      timeoutMs: PROVIDER_TIMEOUT_MS,
    },
    retentionDays: values.RETENTION_DAYS,
    /** 0 keeps conversations forever. */
    conversationRetentionDays: values.CONVERSATION_RETENTION_DAYS,
    /** 0: no limit. */
    apiRateLimitPerMinute: values.API_RATE_LIMIT_PER_MINUTE,
    workspaceRateLimitPerMinute: values.WORKSPACE_RATE_LIMIT_PER_MINUTE,
    /** For the messages of a chat visitor. */
    chatRateLimitPerMinute: values.CHAT_RATE_LIMIT_PER_MINUTE,
    /** Multiplies the limits of callers without a key behind one address. 0: no limits. */
    addressBudget: values.ADDRESS_BUDGET,
    /** The sites that may show the chat page in a frame. */
    chatFrameOrigins: values.CHAT_FRAME_ORIGINS,
    /** Opens /metrics. Null: only programs on this machine may read it. */
    metricsToken: values.METRICS_TOKEN ?? null,
    bootstrap: {
      adminEmail: values.BOOTSTRAP_ADMIN_EMAIL,
      adminPassword: values.BOOTSTRAP_ADMIN_PASSWORD,
      apiKey: values.BOOTSTRAP_API_KEY,
      workspace: values.BOOTSTRAP_WORKSPACE,
    },
    logLevel: values.LOG_LEVEL,
  };
}

/** @throws ConfigError for the first variable that cannot be read */
function parse(env: Readonly<Record<string, string | undefined>>): Environment {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environment.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new ConfigError(`${String(path[0])} ${message}.`);
}

/** @throws ConfigError when settings do not fit together */
function assertConsistent(values: Environment): void {
  if (
    (values.BOOTSTRAP_ADMIN_EMAIL === undefined) !==
    (values.BOOTSTRAP_ADMIN_PASSWORD === undefined)
  ) {
    throw new ConfigError(
      'BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD go together: set both or neither.',
    );
  }
  if (values.DATABASE_URL !== undefined && values.ENCRYPTION_KEY === undefined) {
    throw new ConfigError(
      'ENCRYPTION_KEY is missing: with DATABASE_URL, all processes need the same key. Make one with `openssl rand -base64 32`; for data that came from DATA_DIR, use the one in encryption.key.',
    );
  }
  if (values.DATABASE_URL === undefined && values.ROLE !== 'all') {
    throw new ConfigError(
      `ROLE ${values.ROLE} needs DATABASE_URL: the embedded store serves a single process, which does everything.`,
    );
  }
  if (values.ROLE !== 'all' && values.PUBLIC_URL === undefined) {
    throw new ConfigError(
      `PUBLIC_URL is missing: with ROLE ${values.ROLE}, set it to the address where customers and n8n reach the service, such as https://conversations.example.com.`,
    );
  }
}

/** @throws ConfigError when the model's address or its name is missing */
function readLlm({ LLM_BASE_URL: baseUrl, LLM_API_KEY: apiKey, LLM_MODEL: model }: Environment) {
  if (baseUrl === undefined) {
    const unused = apiKey !== undefined ? 'LLM_API_KEY' : model !== undefined ? 'LLM_MODEL' : null;
    if (unused !== null)
      throw new ConfigError(
        `${unused} has no effect without LLM_BASE_URL: set the address of an OpenAI-compatible server, such as https://api.openai.com/v1, or leave ${unused} unset.`,
      );
    return null;
  }
  if (model === undefined)
    throw new ConfigError('LLM_MODEL is missing: LLM_BASE_URL needs the name of the model.');
  return { baseUrl, apiKey, model };
}
