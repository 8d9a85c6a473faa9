import { describe, expect, it } from '@jest/globals';
import * as conversations from '../../../service/src/conversations/contract.ts';
import * as hooks from '../../../service/src/deliveries/contract.ts';
import * as payments from '../../../service/src/payments/contract.ts';
import * as toolCalls from '../../../service/src/tools/calls/contract.ts';
import * as tools from '../../../service/src/tools/contract.ts';
import * as turns from '../../../service/src/agent/webhook/contract.ts';
import { byId, type Rest, useService } from '../helpers/actions.ts';
import { builtFile } from '../helpers/builtFile.ts';
import { ACTION_TOOL } from '../helpers/n8n.ts';

interface RecordShape {
  id: string;
  fields: string[];
  simplified: Record<string, string>;
}
const records = builtFile<Record<string, RecordShape>>('actions/records');

const { open, resource } = useService();
const conversation = resource('conversation');

/** As a tool of an AI agent. */
const FOR_AN_AGENT = { type: ACTION_TOOL };

describe('A conversation with more than ten fields', () => {
  const get = async (parameters: Rest['parameters'], node: Rest['node'] = {}) => {
    const { id } = await open();
    const { items } = await conversation('get', {
      parameters: { ...byId(id), ...parameters },
      node,
    });
    return { id, item: items[0]! };
  };

  it('is output with ten of them', async () => {
    const { id, item } = await get({});
    expect(Object.keys(item)).toEqual(Object.keys(records.CONVERSATION_WITH_MESSAGES!.simplified));
    expect(item).toMatchObject({
      id,
      status: 'ai_active',
      contact_id: expect.stringMatching(/^ctc_/),
      messages: [{ text: 'Hello' }],
    });
  });

  it('is output whole without "Simplify"', async () => {
    const { item } = await get({ simplify: false });
    expect(item).toMatchObject({ contact: { email_masked: expect.any(String) }, handover: null });
  });

  it('is simplified for an AI agent too', async () => {
    const { item } = await get({}, FOR_AN_AGENT);
    expect(Object.keys(item)).toHaveLength(10);
  });

  it('gives an AI agent all, or the fields that were chosen, and always the ID', async () => {
    expect((await get({ output: 'raw' }, FOR_AN_AGENT)).item).toHaveProperty('handover', null);
    const selected = { output: 'selected', outputFields: ['status', 'contact_name'] };
    const { id, item } = await get(selected, FOR_AN_AGENT);
    expect(item).toEqual({ id, status: 'ai_active', contact_name: 'Ana' });
  });
});

/** The zod object of the items of a list. */
const elementOf = (answer: unknown) =>
  (answer as { shape: { data: { element: unknown } } }).shape.data.element;
/** The fields of an answer's zod object. */
const fieldsOf = (answer: unknown) => Object.keys((answer as { shape: object }).shape);

describe('What the node knows of each record', () => {
  it.each([
    ['AGENT_TURN', turns.getAgentTurn.answer, []],
    ['CONVERSATION', conversations.takeOverConversation.answer, []],
    ['CLOSED_CONVERSATION', conversations.closeConversation.answer, []],
    ['CONVERSATION_WITH_MESSAGES', conversations.getConversation.answer, []],
    ['PAYMENT_LINK', payments.getPaymentLink.answer, []],
    ['SUBSCRIPTION', elementOf(hooks.listSubscriptions.answer), []],
    ['TOOL', tools.getTool.answer, []],
    ['TOOL_CALL', toolCalls.getToolCall.answer, ['args']],
  ])(
    '%s: has the fields of the API, and simplifies to at most ten of them',
    (name, answer, added) => {
      const { id, fields, simplified } = records[name]!;
      expect([...fields].sort()).toEqual([...fieldsOf(answer), ...added].sort());
      expect(fields.length).toBeGreaterThan(10);
      expect(Object.keys(simplified).length).toBeLessThanOrEqual(10);
      expect(Object.values(simplified)).toContain(id);
      for (const path of Object.values(simplified)) expect(fields).toContain(path.split('.')[0]);
    },
  );
});
