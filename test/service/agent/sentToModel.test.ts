import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { choice, text, toolCalls } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  answers,
  inOrder,
  resultsIn,
  startAgentService,
  type AgentService,
} from './agentService.ts';

describe('what the service sends to a model', () => {
  let agent: AgentService;
  const PHONE = '+54 9 11 5555-0134';
  const EMAIL = 'maria@example.com';
  beforeAll(async () => {
    agent = await startAgentService();
    await agent.tool('find_contact', {
      parameters: { type: 'object', properties: { phone: {}, email: {}, note: {} } },
    });
  });
  beforeEach(() => agent.reset());
  afterEach(() => expect(agent.model.faults).toEqual([]));
  afterAll(() => agent?.close());

  it('never contains the phone or e-mail of the contact: in messages, names, arguments, results or errors', async () => {
    const contact = {
      note: `call\n+54 9 11\n5555\t0134 or ${EMAIL}`,
      number: 5491155550134,
      list: [{ [EMAIL]: 'MARIA@example.com' }],
    };
    agent.tools.on('find_contact', answers(contact));
    agent.model.answerBy(
      inOrder(
        toolCalls({
          name: 'find_contact',
          arguments: { phone: 5491155550134, email: EMAIL, note: 'a\n+5491155550134' },
        }),
        toolCalls({
          name: 'find_contact',
          arguments: { note: '011 15 5555 0134', email: 'other@example.com' },
        }),
        text(`I have ${EMAIL} on record.`),
        text('Bye.'),
      ),
    );
    const talk = await agent.talk(`I am ${PHONE}, ${EMAIL}. Order 20391155.`, {
      name: `Maria ${EMAIL}`,
      phone: PHONE,
      email: EMAIL,
    });
    await talk.reply();
    await agent.service.api.post(`${talk.path}/messages`, {
      text: `Team: we will write to ${EMAIL}.`,
    });
    await talk.act('handback');
    await talk.write('ok');
    await talk.reply(2);
    const seen = JSON.stringify(agent.model.requests.at(-1)!.body) + JSON.stringify(agent.asked());
    expect(seen).toContain('Order 20391155');
    expect(seen).toContain('other@example.com');
    expect(seen).not.toMatch(/maria@example/i);
    expect(seen.replace(/\D/g, '')).not.toContain('55550134');
    // The tool itself was given what the model wrote, and the record shows it masked.
    expect(agent.tools.calls[0]!.arguments).toEqual({
      phone: 5491155550134,
      email: EMAIL,
      note: 'a\n+5491155550134',
    });
    const recorded =
      JSON.stringify(await talk.calls()) +
      JSON.stringify(
        (await agent.service.api.get(`/api/tool-calls/${agent.tools.calls[0]!.tool_call_id}`)).body,
      );
    expect(recorded).not.toMatch(/maria@example/i);
    expect(recorded).not.toMatch(/5555\D{0,4}0134/);
  });

  it('never contains a secret of a tool', async () => {
    const SECRET = 'templ-s3cret-0123456789';
    const { body } = await agent.service.api.post('/api/tools', {
      name: 'with_secret',
      description: 'Looks.',
      kind: 'HTTP',
      request_template: {
        method: 'POST',
        url: `http://127.0.0.1:${agent.tools.port}/with_secret`,
        headers: { authorization: 'Bearer {{secrets.TOKEN}}' },
        body: { conversation_id: '{{conversation.id}}', tool: 'with_secret' },
      },
      secrets: { TOKEN: SECRET },
    });
    await agent.service.api.post(`/api/tools/${body.id}/go-live`, { arguments: {} });
    await waitFor(
      'it to go live',
      async () => (await agent.service.api.get(`/api/tools/${body.id}`)).body.status === 'live',
    );
    agent.tools.on('with_secret', answers({ echo: `Bearer ${SECRET}` }));
    agent.model.answerBy(inOrder(toolCalls({ name: 'with_secret' }), text('Looked.')));
    const talk = await agent.talk('look');
    await talk.reply();
    expect(resultsIn(agent.asked()[1]!)).toHaveLength(1);
    expect(JSON.stringify(agent.model.requests.map((request) => request.body))).not.toContain(
      SECRET,
    );
    expect(JSON.stringify(await talk.calls()) + agent.log.join('')).not.toContain(SECRET);
  });

  it('contains at most 8 KiB of a result, while the record keeps all of it', async () => {
    const big = 'é🎉'.repeat(20_000);
    agent.tools.on('find_contact', answers({ big }));
    agent.model.answerBy(inOrder(toolCalls({ name: 'find_contact' }), text('A lot.')));
    const talk = await agent.talk('all of it');
    await talk.reply();
    const [{ status, result }] = resultsIn(agent.asked()[1]!);
    expect(status).toBe('succeeded');
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(8 * 1024 + 12);
    expect(Buffer.byteLength(result)).toBeGreaterThan(8 * 1024 - 8);
    expect(result).toMatch(/(é|🎉)… \(cut\)$/u);
    const [call] = await talk.calls();
    expect(
      (await agent.service.api.get(`/api/tool-calls/${call.tool_call_id}`)).body.result,
    ).toEqual({ big });
  });

  it('drops half a surrogate pair from the reply of the model', async () => {
    agent.model.answerBy(inOrder(choice({ message: { content: 'a\ud800b' } })));
    expect(await (await agent.talk('hello')).reply()).toBe('ab');
  });
});
