import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../../service/src/channels/channel.ts';
import { isUnsent } from '../../../../service/src/channels/whatsapp/graphCall.ts';
import { sendText, testConnection } from '../../../../service/src/channels/whatsapp/graphApi.ts';
import { whatsappCloud } from '../../../../service/src/channels/whatsapp/whatsappCloud.ts';
import {
  TEST_NUMBER,
  accept,
  graphError,
  hang,
  hugeBody,
  raw,
  reset,
  startGraphServer,
  takeAndCut,
  takeAndHang,
  takeAndReset,
  type GraphReply,
  type GraphServer,
} from '../../../helpers/graphServer.ts';
import { freePort } from '../../../helpers/program.ts';
import { startTlsReceiver } from '../../../helpers/tls.ts';

/** For calls that are never answered. All others get a long time-out, for a busy machine. */
const SHORT_MS = 400;

const REFUSED = { isRefused: true, mayHaveArrived: false };
const NOT_SENT = { isRefused: false, mayHaveArrived: false };
const PERHAPS_SENT = { isRefused: false, mayHaveArrived: true };

describe('the Graph API', () => {
  let graph: GraphServer;
  beforeAll(async () => {
    graph = await startGraphServer();
  });
  beforeEach(() => graph.answerBy(() => accept));
  afterAll(() => graph?.close());

  const account = (values: Record<string, string> = {}) => ({
    channel: {} as Channel,
    values: { phone_number_id: graph.phoneNumberId, access_token: graph.accessToken, ...values },
  });
  const context = ({
    url = graph.url,
    timeoutMs = 10_000,
    signal = new AbortController().signal,
  } = {}) => ({
    config: { graphApiUrl: `${url}/${graph.version}`, timeoutMs },
    signal,
  });
  const to = { phone: '14155552671', channelUserId: null };
  const send = (
    at = context(),
    text = 'Hello',
    recipient: { phone: string | null; channelUserId: string | null } = to,
  ) => sendText({ outboundMessageId: 'out_1', text, to: recipient }, account(), at);
  const failed = (result: Awaited<ReturnType<typeof send>>) =>
    result.type === 'failed'
      ? result
      : { error: '', isRefused: null, retryAfterMs: null, mayHaveArrived: null };

  describe('sending a text', () => {
    it('gives the id of the message', async () => {
      const result = await send();
      expect(result).toEqual({ type: 'sent', channelMessageId: graph.taken.at(-1)?.id });
      expect(graph.faults).toEqual([]);
    });

    describe('with choices', () => {
      const { takesChoices } = whatsappCloud.capabilities;
      const offer = async (choices: readonly string[], text = 'Which one?', values = {}) => {
        expect(takesChoices!(text, choices)).toBe(true);
        const outbound = { outboundMessageId: 'out_1', text, choices, to };
        const result = await sendText(outbound, account(values), context());
        expect([result.type, graph.faults]).toEqual(['sent', []]);
        return graph.taken.at(-1)!.body.interactive;
      };
      const numbers = (count: number) => Array.from({ length: count }, (_, at) => `Size ${at + 1}`);

      it('makes reply buttons of up to three', async () => {
        expect(await offer(['Yes', 'No'])).toEqual({
          type: 'button',
          body: { text: 'Which one?' },
          action: {
            buttons: [
              { type: 'reply', reply: { id: '1', title: 'Yes' } },
              { type: 'reply', reply: { id: '2', title: 'No' } },
            ],
          },
        });
        await offer(['x'.repeat(20), 'y'.repeat(20), 'z'], 'w'.repeat(1024));
      });

      it('makes a list of up to ten, or of titles that are too long for buttons', async () => {
        expect(await offer(numbers(4), 'Which one?', { list_button: 'Elegir' })).toEqual({
          type: 'list',
          body: { text: 'Which one?' },
          action: {
            button: 'Elegir',
            sections: [
              {
                title: 'Elegir',
                rows: numbers(4).map((title, at) => ({ id: String(at + 1), title })),
              },
            ],
          },
        });
        expect((await offer(numbers(10))).action.button).toBe('Choose');
        expect((await offer(['x'.repeat(24)], 'w'.repeat(1024))).type).toBe('list');
      });

      it.each([
        ['a title of 25 characters', 'Which?', ['x'.repeat(25)]],
        ['a text of 1,025 characters', 'w'.repeat(1025), ['Yes', 'No']],
        ['eleven choices', 'Which?', numbers(11)],
        ['two that are the same', 'Which?', ['Yes', 'Yes']],
        ['one of two lines', 'Which?', ['Yes\nNo']],
        ['no choices', 'Which?', []],
      ])('leaves %s to a text', (_, text, choices) => {
        expect(takesChoices!(text, choices)).toBe(false);
      });
    });

    it('refuses without a call when neither number nor user id is known', async () => {
      const calls = graph.requests.length;
      const nowhere = { phone: null, channelUserId: null };
      expect(failed(await send(context(), 'Hello', nowhere)).isRefused).toBe(true);
      expect(graph.requests).toHaveLength(calls);
    });

    it.each([
      ['taken', takeAndHang],
      ['not taken', hang],
    ])('may have sent it when nothing is answered in time, %s', async (_what, reply) => {
      graph.answerWith(reply);
      expect(failed(await send(context({ timeoutMs: SHORT_MS })))).toMatchObject({
        ...PERHAPS_SENT,
        error: expect.stringContaining('did not answer within 0.4 seconds'),
      });
    });

    const JSON_TYPE = { 'content-type': 'application/json' };

    it.each<[string, GraphReply, typeof REFUSED, RegExp]>([
      ['the connection is reset', reset, PERHAPS_SENT, /broke off/],
      [
        'the connection is reset, and the message was taken',
        takeAndReset,
        PERHAPS_SENT,
        /broke off/,
      ],
      [
        'a page comes with 200',
        raw(200, '<html>Log in to the network</html>'),
        PERHAPS_SENT,
        /not from the Graph API/,
      ],
      [
        'a page comes with 403',
        raw(403, '<html>Forbidden</html>'),
        REFUSED,
        /answer \(403\) is not from the Graph API\. Check GRAPH_API_URL/,
      ],
      ['a list comes with 500', raw(500, '[]', JSON_TYPE), NOT_SENT, /answer \(500\) is not from/],
      [
        'an error without anything in it comes',
        raw(400, '{"error":{}}', JSON_TYPE),
        REFUSED,
        /^WhatsApp rejected the message\.$/,
      ],
      [
        'an error is no object',
        raw(400, '{"error":"no"}', JSON_TYPE),
        REFUSED,
        /^WhatsApp rejected the message\.$/,
      ],
      ['a body without end comes with 500', hugeBody(500), NOT_SENT, /answer \(500\) is not from/],
      [
        'a redirect comes',
        raw(307, '', { location: 'http://127.0.0.1:1/' }),
        REFUSED,
        /redirect \(307\), which is not followed/,
      ],
      [
        'an unknown error comes with a 4xx',
        graphError(400, { code: 987_654, message: 'Something new' }),
        REFUSED,
        /error 987654\)\. Meta says: Something new/,
      ],
      [
        'an unknown error is transient by its own word',
        graphError(400, { code: 987_654, ...({ is_transient: true } as object) }),
        NOT_SENT,
        /error 987654/,
      ],
    ])('says so when %s', async (_what, reply, outcome, words) => {
      graph.answerWith(reply);
      const error = expect.stringMatching(words);
      expect(failed(await send())).toMatchObject({ ...outcome, error });
    });

    it.each<[string, GraphReply]>([
      ['breaks off', takeAndCut],
      ['has no end', (res, take, request) => (take(), hugeBody(200)(res, take, request))],
      [
        'comes byte by byte until the deadline',
        (res, take) => {
          take();
          res.writeHead(200, { 'content-type': 'application/json' });
          const timer = setInterval(() => res.write(' '), 20);
          res.on('close', () => clearInterval(timer));
        },
      ],
    ])('has sent it when Meta says 200 and the rest %s', async (_what, reply) => {
      graph.answerWith(reply);
      const result = await send(context({ timeoutMs: 2_000 }));
      expect(result).toEqual({ type: 'sent', channelMessageId: null });
    });

    it('has not sent it when the address refuses connections, or is not resolved, or is not who it says', async () => {
      const stranger = await startTlsReceiver();
      for (const [url, words] of [
        [`http://127.0.0.1:${await freePort()}`, 'ECONNREFUSED'],
        ['http://graph.invalid', 'graph.invalid cannot be reached'],
        [stranger.url, 'cannot be reached'],
      ])
        expect(failed(await send(context({ url })))).toMatchObject({
          ...NOT_SENT,
          error: expect.stringContaining(words!),
        });
      await stranger.close();
    });

    it.each([
      ['ETIMEDOUT', 'connect', true],
      ['ETIMEDOUT', 'read', false],
      ['EHOSTUNREACH', 'connect', true],
      ['EHOSTUNREACH', 'write', false],
      ['ENOTFOUND', 'getaddrinfo', true],
      ['ECONNRESET', 'read', false],
      ['UND_ERR_CONNECT_TIMEOUT', undefined, true],
      ['UND_ERR_SOCKET', undefined, false],
    ])('knows of %s in %s whether something may have been sent', (code, syscall, expected) => {
      const error = Object.assign(new Error(code), { code, ...(syscall && { syscall }) });
      expect(isUnsent(error)).toBe(expected);
      expect(isUnsent(Object.assign(new AggregateError([error]), { code }))).toBe(expected);
      expect(isUnsent(new Error('failed', { cause: error }))).toBe(expected);
    });

    it('has one deadline for everything, also when nobody accepts the request', async () => {
      const silent = createServer(() => {}).listen(0, '127.0.0.1');
      await new Promise((resolve) => silent.once('listening', resolve));
      const { port } = silent.address() as { port: number };
      const at = context({ url: `http://127.0.0.1:${port}`, timeoutMs: SHORT_MS });
      expect(failed(await send(at)).error).toMatch(/did not answer within 0.4 seconds/);
      silent.close();
    });

    it('rejects with the reason of a signal, and with nothing else', async () => {
      const controller = new AbortController();
      graph.answerWith(hang);
      const sending = send(context({ signal: controller.signal }));
      setTimeout(() => controller.abort(new Error('stopping')), 50);
      await expect(sending).rejects.toThrow('stopping');
      await expect(send(context({ signal: controller.signal }))).rejects.toThrow('stopping');
    });

    it.each([
      ['120', 120_000],
      ['0', 0],
      ['soon', null],
      ['', null],
      ['-5', null],
    ])('reads Retry-After %p', async (header, retryAfterMs) => {
      graph.answerWith(graphError(429, { code: 130429 }, { 'retry-after': header }));
      expect(failed(await send())).toMatchObject({ isRefused: false, retryAfterMs });
    });

    it('reads a Retry-After that is a date', async () => {
      const date = new Date(Date.now() + 90_000).toUTCString();
      graph.answerWith(graphError(429, { code: 4 }, { 'retry-after': date }));
      const { retryAfterMs } = failed(await send());
      expect(retryAfterMs).toBeGreaterThan(85_000);
      expect(retryAfterMs).toBeLessThanOrEqual(90_000);
    });

    it.each([1, 2, 4, 80_007, 130_429, 131_000, 131_016, 131_056, 131_057, 133_004])(
      'may go through later after error %d',
      async (code) => {
        graph.answerWith(graphError(400, { code }));
        expect(failed(await send())).toMatchObject({
          ...NOT_SENT,
          error: expect.stringContaining(`(Meta's error ${code}).`),
        });
      },
    );

    it.each([
      0, 3, 10, 33, 100, 190, 200, 299, 368, 130_472, 130_497, 131_005, 131_006, 131_008, 131_009,
      131_021, 131_026, 131_030, 131_031, 131_037, 131_042, 131_045, 131_047, 131_048, 131_049,
      131_051, 131_052, 131_053, 131_062, 132_000, 132_015, 133_000, 133_005, 133_010,
    ])('never goes through after error %d, whatever the status', async (code) => {
      graph.answerWith(graphError(500, { code, message: 'In their own words' }));
      const { isRefused, error } = failed(await send());
      expect(isRefused).toBe(true);
      expect(error).toMatch(new RegExp(`^[A-Z].{15,}\\(Meta's error ${code}\\)\\.`));
    });

    it.each([
      [200, 'The access token may not do this'],
      [131_026, 'WhatsApp cannot deliver to this customer'],
      [131_031, 'Meta has locked the account'],
      [131_042, 'a problem with its payment method'],
      [131_047, 'More than 24 hours have passed since the customer last wrote'],
    ])('says what error %d means', async (code, words) => {
      graph.answerWith(graphError(400, { code }));
      expect(failed(await send()).error).toContain(words);
    });

    it("keeps neither a token nor a number of Meta's own words, and not too many of them", async () => {
      graph.answerWith(
        graphError(400, {
          code: 999_999,
          message: `Malformed access token ${graph.accessToken} for +1 (415) 555-2671 ${'and more '.repeat(100)}`,
        }),
      );
      const { error } = failed(await send());
      expect(error).toContain('Malformed access token [removed] for [removed] and more');
      expect(error.length).toBeLessThan(400);
      const details = 'Parameter value is not valid for +1 415 555 2671';
      graph.answerWith(graphError(400, { code: 131_009, error_data: { details } }));
      expect(failed(await send()).error).toMatch(/Parameter value is not valid for \[removed\]$/);
    });

    it('uses its connections again', async () => {
      const before = graph.acceptedSockets;
      for (let n = 0; n < 10; n++) expect(await send()).toMatchObject({ type: 'sent' });
      expect(graph.acceptedSockets - before).toBeLessThanOrEqual(1);
    });
  });

  describe('testing a connection', () => {
    const test = (values = {}, at = context()) => testConnection(account(values), at);
    const failure = (words: string | RegExp) => ({
      ok: false,
      message: expect.stringMatching(words),
    });

    it('names the number and its name', async () => {
      expect(await test()).toEqual({
        ok: true,
        message: `WhatsApp knows this number as ${TEST_NUMBER.display_phone_number} (${TEST_NUMBER.verified_name}).`,
      });
    });

    it('sends nothing to anybody', async () => {
      const calls = graph.requests.length;
      await test();
      expect(graph.requests).toHaveLength(calls);
    });

    it('says that the token is not taken', async () => {
      expect(await test({ access_token: 'EAAGwrong' })).toEqual(
        failure(/^Meta rejected the access token.*Create a new one/),
      );
    });

    it('says that the number is not known', async () => {
      expect(await test({ phone_number_id: '12345' })).toEqual(
        failure('cannot use the phone number ID 12345'),
      );
    });

    it('says that a permission is missing', async () => {
      graph.answerNumberWith(graphError(403, { code: 10 }));
      expect(await test()).toEqual(failure('whatsapp_business_messaging'));
    });

    it('says that nothing can be reached there, or that something else answers', async () => {
      expect(await test({}, context({ url: `http://127.0.0.1:${await freePort()}` }))).toEqual(
        failure('cannot be reached'),
      );
      graph.answerNumberWith(hang, raw(200, '<html></html>'), raw(200, '{}'));
      expect(await test({}, context({ timeoutMs: SHORT_MS }))).toEqual(failure('did not answer'));
      expect(await test()).toEqual(failure('Check GRAPH_API_URL'));
      expect(await test()).toEqual(failure('Check GRAPH_API_URL'));
    });
  });
});
