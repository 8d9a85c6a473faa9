// A model's server that is slow, broken, hostile or wrongly configured.
import type { Socket } from 'node:net';
import { pino } from 'pino';
import { createOpenAiModel, ModelError } from '../../../../service/src/agent/openai/openaiModel.ts';
import {
  hang,
  httpError,
  hugeBody,
  temporaryError,
  redirectTo,
  slowDrip,
  text,
  toolCalls,
  tooManyRequests,
  truncatedBody,
} from '../../../helpers/modelServer.ts';
import { freePort } from '../../../helpers/program.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { closeModels, failureOf, openModel, turnOf } from './openaiSupport.ts';

let faultsExpected = false;
beforeEach(() => {
  faultsExpected = false;
});
afterEach(async () => {
  const faults = await closeModels();
  if (!faultsExpected) expect(faults).toEqual([]);
});

describe('time', () => {
  // Long enough for the requests themselves on a busy machine.
  it.each([
    ['never answers', [hang()]],
    ['answers byte by byte without end', [slowDrip()]],
    ['has to be asked again, and then never answers', [temporaryError(503), hang()]],
  ])('ends a call to a server that %s', async (_what, replies) => {
    const { server, next } = await openModel({ timeoutMs: 2_500 });
    server.answerWith(...replies);
    expect((await failureOf(next())).message).toBe('The model did not answer within 2.5 s.');
    expect(server.requests).toHaveLength(replies.length);
  });

  it('spans both requests of a step that takes two', async () => {
    const { server, next } = await openModel({ timeoutMs: 2_500 });
    server.answerWith(toolCalls({ name: 'mark-qualified' }), hang());
    expect((await failureOf(next())).message).toBe('The model did not answer within 2.5 s.');
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['while the server hangs', hang()],
    ['in the middle of the body', slowDrip()],
  ])("ends when the caller gives up %s, with the caller's reason", async (_when, reply) => {
    const { server, next } = await openModel();
    server.answerWith(reply);
    const caller = new AbortController();
    const step = next(turnOf(), caller.signal);
    await waitFor('the request', () => server.requests.length === 1, { everyMs: 2 });
    const reason = new Error('the customer wrote again');
    caller.abort(reason);
    await expect(step).rejects.toBe(reason);
    await waitFor('the connection to end', () => server.openSockets === 0);
  });

  it('sends nothing when the caller has given up before', async () => {
    const { server, next } = await openModel();
    const reason = new Error('too late');
    await expect(next(turnOf(), AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(server.acceptedSockets).toBe(0);
  });
});

describe('another try', () => {
  it.each([429, 500, 502, 503])('follows a %i', async (status) => {
    const { server, next } = await openModel();
    server.answerWith(temporaryError(status), temporaryError(status), text('Here I am.'));
    expect(await next()).toEqual({ type: 'reply', text: 'Here I am.' });
    expect(server.requests).toHaveLength(3);
  });

  it('is made twice at most', async () => {
    const { server, next } = await openModel();
    server.answerBy(() => temporaryError(500));
    expect((await failureOf(next())).message).toBe("The model's server failed (500): Error 500");
    expect(server.requests).toHaveLength(3);
  });

  it('waits as long as Retry-After says', async () => {
    const { server, next } = await openModel();
    const askedAt: number[] = [];
    server.answerBy(() => {
      askedAt.push(performance.now());
      return askedAt.length === 1 ? tooManyRequests(1) : text('ok');
    });
    await next();
    expect(askedAt[1]! - askedAt[0]!).toBeGreaterThanOrEqual(990);
  });

  it('is not made when Retry-After asks for longer than the call may take', async () => {
    const { server, next } = await openModel({ timeoutMs: 10_000 });
    server.answerWith(tooManyRequests(30));
    expect((await failureOf(next())).message).toBe(
      "The model's server takes no more requests now (429): its rate limit or the account's quota is reached: Rate limit reached",
    );
    expect(server.requests).toHaveLength(1);
  });

  it.each([400, 401, 403, 404, 422])('does not follow a %i', async (status) => {
    const { server, next } = await openModel();
    server.answerBy(() => httpError(status));
    expect((await failureOf(next())).message).toContain(`(${status})`);
    expect(server.requests).toHaveLength(1);
  });
});

describe('the message names what to look at', () => {
  it.each([
    [
      'a key that is refused',
      { apiKey: 'sk-another-key' },
      "The model's server refused the key (401): check LLM_API_KEY.",
    ],
    [
      'a key that is missing',
      { apiKey: undefined },
      "The model's server asks for a key (401): set LLM_API_KEY.",
    ],
    [
      'a model that does not exist',
      { model: 'gpt-0' },
      `The model's server knows no such model or address (404): check LLM_MODEL ("gpt-0") and LLM_BASE_URL: The model 'gpt-0' does not exist`,
    ],
  ])('%s', async (_what, options, message) => {
    faultsExpected = true;
    const { next } = await openModel(options);
    expect((await failureOf(next())).message).toBe(message);
  });

  it('an address without /v1', async () => {
    faultsExpected = true;
    const { server } = await openModel();
    const { next } = await openModel({ baseUrl: server.url.replace('/v1', '') });
    expect((await failureOf(next())).message).toContain(
      'check LLM_MODEL ("test-model") and LLM_BASE_URL',
    );
  });

  it('a request that the server refuses, in its own words', async () => {
    const { server, next } = await openModel();
    server.answerWith(httpError(400, `test-model does not\n support tools. ${'x'.repeat(1000)}`));
    const { message } = await failureOf(next());
    expect(message).toContain(
      "The model's server refused the request (400): test-model does not support tools.",
    );
    expect(message.length).toBeLessThan(300);
  });

  it('nobody there', async () => {
    const { next } = await openModel({ baseUrl: `http://127.0.0.1:${await freePort()}/v1` });
    expect((await failureOf(next())).message).toBe(
      '127.0.0.1 refused the connection: nothing listens there. LLM_BASE_URL says where the model is.',
    );
  });

  it('a connection that ends in the middle of the answer', async () => {
    const { server, next } = await openModel();
    server.answerWith(truncatedBody());
    expect((await failureOf(next())).message).toBe(
      '127.0.0.1 closed the connection before it had answered. LLM_BASE_URL says where the model is.',
    );
  });

  it.each([
    ['not-an-address', undefined, 'LLM_BASE_URL'],
    ['http://user:hunter2@127.0.0.1/v1', undefined, 'LLM_BASE_URL'],
    ['http://127.0.0.1/v1', 'sk-with\nnewline', 'LLM_API_KEY'],
    ['http://127.0.0.1/v1', '', 'LLM_API_KEY'],
  ])(
    'settings that cannot work (%s, %j), when the model is made',
    async (baseUrl, apiKey, setting) => {
      const making = createOpenAiModel({ baseUrl, apiKey, model: 'm', timeoutMs: 1_000 });
      await expect(making).rejects.toThrow(ModelError);
      await expect(making).rejects.toThrow(setting);
      await expect(making).rejects.not.toThrow(/hunter2|newline/);
    },
  );
});

describe('a hostile server', () => {
  it.each([200, 400])('cannot send more than 4 MiB (status %i)', async (status) => {
    const { server, next } = await openModel();
    const sockets: Socket[] = [];
    server.answerBy(() => (res, request) => {
      sockets.push(res.socket!);
      hugeBody(status)(res, request);
    });
    const { message } = await failureOf(next());
    expect(message).toBe(
      status === 200
        ? "The model's answer is larger than 4 MiB."
        : "The model's server refused the request (400).",
    );
    await waitFor('the connection to end', () => server.openSockets === 0);
    expect(sockets.map((socket) => socket.bytesWritten < 32 * 1024 * 1024)).toEqual([true]);
  });

  it('cannot send the conversation elsewhere by a redirect', async () => {
    const { server: elsewhere } = await openModel();
    const { server, next } = await openModel();
    server.answerWith(redirectTo(`${elsewhere.url}/chat/completions`));
    expect((await failureOf(next())).message).toBe(
      "The model's server answers with a redirect (307): set LLM_BASE_URL to the address that it leads to.",
    );
    expect(elsewhere.acceptedSockets).toBe(0);
  });

  it.each([401, 400, 500])(
    'cannot bring the key or what was written into an error or the log (status %i)',
    async (status) => {
      const lines: string[] = [];
      const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
      const { server, next } = await openModel({ log });
      server.answerBy(({ headers }) =>
        httpError(status, `Incorrect: ${headers.authorization}`, {
          'x-echo': String(headers.authorization),
          'retry-after-ms': '1',
        }),
      );
      const error = await failureOf(next());
      log.error({ err: error }, 'the agent failed');
      const seen = [error.message, error.stack, JSON.stringify(error), ...lines].join('\n');
      expect(seen).not.toContain(server.apiKey);
      expect(seen).not.toContain('order 7');
      expect(error.cause).toBeUndefined();
    },
  );

  it('cannot bring a part of the key into an error by a message that is cut', async () => {
    const { server, next } = await openModel();
    server.answerBy(({ headers }) =>
      httpError(
        400,
        `https://llm.example/?${'p=1&'.repeat(42)}key=${headers.authorization!.slice(7)}`,
      ),
    );
    expect((await failureOf(next())).message).not.toContain(server.apiKey!.slice(0, 4));
  });
});

it("the model's client takes nothing from the environment and prints nothing", async () => {
  const printed: unknown[] = [];
  const print = (...line: unknown[]) => void printed.push(line);
  const before = { env: process.env, console: { ...console } };
  process.env = {
    ...before.env,
    OPENAI_LOG: 'debug',
    OPENAI_API_KEY: 'sk-env',
    OPENAI_ORG_ID: 'org-env',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    OPENAI_CUSTOM_HEADERS: 'x-env: yes',
  };
  Object.assign(console, { debug: print, log: print, info: print, warn: print });
  try {
    const { server, next } = await openModel({ server: { apiKey: null } });
    server.answerWith(text('ok'));
    await next();
    const { headers } = server.requests[0]!;
    expect(headers).not.toHaveProperty('openai-organization');
    expect(headers).not.toHaveProperty('x-env');
    expect(printed).toEqual([]);
  } finally {
    process.env = before.env;
    Object.assign(console, before.console);
  }
});
