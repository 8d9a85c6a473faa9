import { describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import { chatCustomer } from '../../helpers/apiClient.ts';
import {
  body,
  drip,
  hang,
  hangInBody,
  jsonOf,
  makeLive,
  redirect,
  reset,
  type Answer,
  type DefinedTool,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  callIdsAt,
  defineTool,
  endpoint,
  service,
  useToolService,
  type Kind,
} from './toolService.ts';

const MEBIBYTE = 1024 * 1024;

type Way = 'test' | 'agent';

/** Each kind of tool, called from its definition and by the keyword agent in a chat. */
const WAYS: readonly [Kind, Way][] = [
  ['Webhook', 'test'],
  ['Webhook', 'agent'],
  ['HTTP', 'test'],
  ['HTTP', 'agent'],
];

describe('a call of a tool', () => {
  useToolService();

  interface Seen {
    /** As the API shows it once it has ended. */
    record: any; // eslint-disable-line @typescript-eslint/no-explicit-any
    /** The id of the call in each request. */
    ids: string[];
    /** What the agent said, in a chat. */
    said: string | null;
  }

  /** Makes one call that gets these answers, waits for its end, and removes the tool. */
  const call = async (
    kind: Kind,
    way: Way,
    answers: Answer[],
    fields: object = {},
  ): Promise<Seen> => {
    const tool = await defineTool(kind, fields);
    try {
      return await (way === 'test' ? testCall(tool, answers) : agentCall(tool, answers));
    } finally {
      await service.api.delete(`/api/tools/${tool.id}`);
    }
  };

  const testCall = async (tool: DefinedTool, answers: Answer[]): Promise<Seen> => {
    endpoint.answer(tool.path, ...answers);
    const { body: record } = await service.api.post(`/api/tools/${tool.id}/test`, {});
    return { record, said: null, ids: callIdsAt(endpoint, tool) };
  };

  const agentCall = async (tool: DefinedTool, answers: Answer[]): Promise<Seen> => {
    await makeLive(service.api, tool);
    const before = endpoint.at(tool.path).length;
    endpoint.answer(tool.path, ...answers);
    const customer = await chatCustomer(service.url);
    const { conversation_id: conversation } = await customer.write(tool.name.replaceAll('_', ' '));
    const said = await waitFor(
      'the agent to answer',
      async () => (await customer.read())[1]?.text as string | undefined,
    );
    const { body } = await service.api.get(`/api/tool-calls?conversation_id=${conversation}`);
    expect(body.data).toHaveLength(1);
    const { body: record } = await service.api.get(`/api/tool-calls/${body.data[0].tool_call_id}`);
    return { record, said, ids: callIdsAt(endpoint, tool).slice(before) };
  };

  /** Checks what the endpoint saw of a failed call, its record, and what the customer was told. */
  const expectFailure = (
    { record, ids, said }: Seen,
    wanted: { requests: number; attempts?: number; type: string; httpStatus: number | null },
  ) => {
    expect(record).toMatchObject({
      status: 'failed',
      attempts: wanted.attempts ?? wanted.requests,
      error: { type: wanted.type },
      http_status: wanted.httpStatus,
      result: null,
    });
    expect(ids).toEqual(Array(wanted.requests).fill(record.tool_call_id));
    if (said !== null) expect(said).toBe(SENTENCES.toolFailed.en);
  };

  describe.each(WAYS)('%s kind, %s', (kind, way) => {
    // One case is enough for the agent: it makes the same calls, and what it says depends only on
    // how they end.
    const casesFrom = <T>(all: readonly T[]) => (way === 'test' ? all : all.slice(0, 1));

    it.each(casesFrom([500, 502, 503, 599]))('makes three attempts for %i', async (status) => {
      expectFailure(await call(kind, way, [status, status, status, status]), {
        requests: 3,
        type: 'http_status',
        httpStatus: status,
      });
    });

    it('makes three attempts when the connection breaks', async () => {
      expectFailure(await call(kind, way, [reset, reset, reset, reset]), {
        requests: 3,
        type: 'network',
        httpStatus: null,
      });
    });

    it.each(casesFrom([404, 400, 401, 408, 410, 429]))(
      'makes one attempt for %i',
      async (status) => {
        expectFailure(await call(kind, way, [status]), {
          requests: 1,
          type: 'http_status',
          httpStatus: status,
        });
      },
    );

    it('succeeds at the second attempt after a 5xx, which the customer does not hear of', async () => {
      const { record, ids, said } = await call(kind, way, [
        502,
        { json: { message: 'It is on its way.' } },
      ]);
      expect(record).toMatchObject({
        status: 'succeeded',
        attempts: 2,
        http_status: 200,
        error: null,
        result: { message: 'It is on its way.' },
      });
      expect(ids).toHaveLength(2);
      if (said !== null) expect(said).toBe('It is on its way.');
    });

    it('succeeds at the third attempt after a broken connection and a 500', async () => {
      const { record, ids } = await call(kind, way, [reset, 500, 200]);
      expect(record).toMatchObject({ status: 'succeeded', attempts: 3, error: null });
      expect(ids).toHaveLength(3);
    });

    const unusable: [string, Answer][] = [
      ['no JSON', body('it is on its way')],
      ['bytes that are not UTF-8', body(Buffer.from([0x22, 0xe9, 0xff, 0x22]))],
      ['JSON 100,000 levels deep', body('['.repeat(100_000) + ']'.repeat(100_000))],
      ['a number that is too large', body('{"n":[1e400]}')],
      ['half of a JSON text', body('{"ok":tru')],
      ['a content type that nobody can read', body('{"ok":true}', { 'content-type': 'image/png' })],
    ];
    it.each(casesFrom(unusable))(
      'uses nothing of %s, and makes no other attempt',
      async (_what, answer) => {
        expectFailure(await call(kind, way, [answer]), {
          requests: 1,
          type: 'invalid_response',
          httpStatus: 200,
        });
      },
    );
  });

  // Time itself is under test. All calls run at once, so they take little more than three time-outs
  // of one second.
  it('makes three attempts for each kind of time-out, one right after the other', async () => {
    const waysToTimeOut = { hang, hangInBody, drip };
    const seen = await Promise.all(
      Object.values(waysToTimeOut).flatMap((answer) =>
        WAYS.map(([kind, way]) =>
          call(kind, way, [answer, answer, answer, answer], { timeout: 1 }),
        ),
      ),
    );
    for (const each of seen) {
      // On a busy machine an attempt may end before its request arrives.
      const requests = each.ids.length;
      expectFailure(each, { requests, attempts: 3, type: 'timeout', httpStatus: null });
      expect(requests).toBeLessThanOrEqual(3);
      expect(each.record.duration_ms).toBeGreaterThanOrEqual(2950);
      // What three time-outs of the default length would take.
      expect(each.record.duration_ms).toBeLessThan(30_000);
    }
  });

  it('succeeds when the attempt after a time-out is answered', async () => {
    const seen = await Promise.all(
      WAYS.map(([kind, way]) => call(kind, way, [hang, 200], { timeout: 2 })),
    );
    for (const { record, ids } of seen)
      expect([record.status, record.attempts, ids.length]).toEqual(['succeeded', 2, 2]);
  });

  it.each([1.0005, 1.1, 8.2, 119.999])('takes a time-out of %d seconds', async (timeout) => {
    const { record } = await call('Webhook', 'test', [200], { timeout });
    expect(record.status).toBe('succeeded');
  });

  it('is made once for each request, at most sixteen at once for a tool', async () => {
    const [tool, other] = [await defineTool('Webhook'), await defineTool('HTTP')];
    let [open, mostOpen] = [0, 0];
    const slow: Answer = (_request, response) => {
      mostOpen = Math.max(mostOpen, ++open);
      setTimeout(() => {
        open--;
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
      }, 30);
    };
    endpoint.answerAlways(tool.path, slow);
    const records = await Promise.all(
      Array.from({ length: 48 }, (_, n) =>
        service.api.post(`/api/tools/${(n % 2 === 0 ? tool : other).id}/test`, {
          arguments: { n },
        }),
      ),
    );
    for (const { body: record } of records)
      expect([record.status, record.attempts]).toEqual(['succeeded', 1]);
    expect(mostOpen).toBeGreaterThan(1);
    expect(mostOpen).toBeLessThanOrEqual(16);
    for (const { path } of [tool, other]) expect(endpoint.at(path)).toHaveLength(24);
    expect(
      new Set(endpoint.envelopes(tool.path).map((envelope) => envelope.tool_call_id)).size,
    ).toBe(24);
    for (const { id } of [tool, other]) await service.api.delete(`/api/tools/${id}`);
  });

  it.each(['Webhook', 'HTTP'] as const)(
    'keeps hostile JSON as it is, and says it as well-formed text (%s)',
    async (kind) => {
      const bytes =
        '{"message":"half \\ud83d and nul \\u0000","__proto__":{"admin":true},"constructor":1,"big":1e308,"long":12345678901234567890}';
      const { record, said } = await call(kind, 'agent', [body(bytes)]);
      expect(record.status).toBe('succeeded');
      expect(JSON.stringify(record.result)).toContain('"__proto__":{"admin":true}');
      expect(said).toContain('half');
      expect([said!.isWellFormed(), said!.includes('\0')]).toEqual([true, false]);
    },
  );

  describe('of the Webhook kind', () => {
    it('reads 1 MiB, and refuses more without another attempt', async () => {
      expect((await call('Webhook', 'test', [body(jsonOf(MEBIBYTE))])).record).toMatchObject({
        status: 'succeeded',
        attempts: 1,
      });
      expectFailure(await call('Webhook', 'test', [body(jsonOf(MEBIBYTE + 1))]), {
        requests: 1,
        type: 'too_large',
        httpStatus: null,
      });
    });

    it('refuses an answer without end', async () => {
      const endless: Answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = () => void (response.destroyed || response.write(' '.repeat(65_536), more));
        more();
      };
      expectFailure(await call('Webhook', 'test', [endless]), {
        requests: 1,
        type: 'too_large',
        httpStatus: null,
      });
    });

    it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
      const answer = redirect(`${endpoint.url}/elsewhere`, status);
      expectFailure(await call('Webhook', 'test', [answer]), {
        requests: 1,
        type: 'redirect',
        httpStatus: status,
      });
      expect(endpoint.at('/elsewhere')).toHaveLength(0);
    });

    it.each([
      ['an empty body', body('')],
      ['204', body('', {}, 204)],
      ['JSON with the content type of HTML', body('{"ok":true}', { 'content-type': 'text/html' })],
      ['JSON without a content type', body('{"ok":true}', {})],
    ])('does not accept %s as an answer', async (_what, answer) => {
      expect((await call('Webhook', 'test', [answer])).record).toMatchObject({
        status: 'failed',
        attempts: 1,
        error: { type: 'invalid_response' },
      });
    });

    it('reads JSON of any subtype, with the charset in any spelling', async () => {
      for (const type of [
        'application/json; charset=UTF-8',
        'APPLICATION/JSON',
        'application/problem+json;x=y',
      ]) {
        expect(
          (await call('Webhook', 'test', [body('\ufeff{"a":"é"}', { 'content-type': type })]))
            .record,
        ).toMatchObject({ status: 'succeeded', result: { a: 'é' } });
      }
    });
  });

  it.each(['Webhook', 'HTTP'] as const)(
    'keeps a whole number that is too long for a number as text: %s kind',
    async (kind) => {
      const answer = body(
        '{"id":1234567890123456789,"all":[-9007199254740993,9007199254740992,1.5,-0,12345678901234567.5]}',
      );
      expect((await call(kind, 'test', [answer])).record.result).toEqual({
        id: '1234567890123456789',
        all: ['-9007199254740993', 9007199254740992, 1.5, 0, 12345678901234568],
      });
    },
  );

  it('cannot be read without its conversation, whose contact says what to mask', async () => {
    const { record } = await call('Webhook', 'agent', [{ json: { to: 'ana@example.com' } }]);
    const ids = async () =>
      (await service.api.get('/api/tool-calls?limit=200')).body.data.map(
        (each: { tool_call_id: string }) => each.tool_call_id,
      );
    expect(await ids()).toContain(record.tool_call_id);
    // As another process sees it that read the call just before both were removed.
    await service.changeStored((store) =>
      store.transaction((tx) => tx.conversations.delete(record.conversation_id)),
    );
    expect((await service.api.get(`/api/tool-calls/${record.tool_call_id}`)).status).toBe(404);
    expect(await ids()).not.toContain(record.tool_call_id);
  });
});
