import { describe, expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import type { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import type * as sampleArgumentsFile from '../../../nodes/ConversationService/workflowTool/sampleArguments';
import type * as toolDefinitionFile from '../../../nodes/ConversationService/workflowTool/toolDefinition';
import { builtFile } from '../helpers/builtFile.ts';
import {
  additionalData,
  core,
  failureOf,
  ourNode,
  TOOL_TRIGGER,
  workflowWith,
} from '../helpers/n8n.ts';

const require = createRequire(import.meta.url);
const { readDefinition, readSample, testDefinition } = builtFile<typeof toolDefinitionFile>(
  'workflowTool/toolDefinition',
);
const { sampleArguments } = builtFile<typeof sampleArgumentsFile>('workflowTool/sampleArguments');
const { Ajv2020 } = require('ajv/dist/2020.js') as { Ajv2020: typeof Ajv };
const addFormats = require('ajv-formats') as (ajv: Ajv) => void;

function context(parameters: IDataObject): IHookFunctions {
  const node = ourNode(
    TOOL_TRIGGER,
    { toolName: 'find_order', toolDescription: 'Finds an order.', ...parameters } as never,
    { webhookId: 'hook-1' },
  );
  const wf = workflowWith(node);
  const data = additionalData(() => ({ baseUrl: '', apiKey: '' }), {
    webhookBaseUrl: 'https://n8n.example.com/webhook',
  });
  return new core.HookContext(wf, wf.getNode('Trigger')!, data, 'trigger', 'activate', {
    isTest: false,
  } as never) as never;
}
const define = (parameters: IDataObject) => readDefinition(context(parameters));
const failure = (parameters: IDataObject) => failureOf(Promise.resolve(parameters).then(define));
const withFields = (...fields: IDataObject[]) => ({ parameters: { fields } });

const ajv = new Ajv2020({ strict: false, logger: false });
addFormats(ajv);
/** Whether the sample fits the schema, by the library that the service uses. */
const fits = (schema: IDataObject, sample: IDataObject): boolean => ajv.validate(schema, sample);

describe('A definition from the fields', () => {
  it('has the fields of the API, with their defaults', () => {
    expect(define({})).toEqual({
      name: 'find_order',
      description: 'Finds an order.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      endpoint: 'https://n8n.example.com/webhook/hook-1/tool',
      timeout: 10,
      ask_before_running: false,
      read_only: false,
      example_phrases: [],
    });
    expect(
      define({
        toolName: ' a ',
        toolDescription: ' b ',
        timeout: 120,
        askBeforeRunning: true,
        readOnly: true,
        examplePhrases: ' where is my order \n\nhas it left',
      }),
    ).toMatchObject({
      name: 'a',
      description: 'b',
      timeout: 120,
      ask_before_running: true,
      read_only: true,
      example_phrases: ['where is my order', 'has it left'],
    });
  });

  it.each(['a', 'find_order_2', `a${'b'.repeat(63)}`])('accepts the name %s', (toolName) =>
    expect(define({ toolName }).name).toBe(toolName),
  );

  it.each(['', ' ', 'Find', '2nd', '_a', 'find-order', 'find order', 'é', `a${'b'.repeat(64)}`])(
    'refuses the name "%s" and says what one looks like',
    async (toolName) => {
      expect(await failure({ toolName })).toMatchObject({
        name: 'NodeOperationError',
        description: expect.stringContaining('find_order'),
      });
    },
  );

  it('asks for a description, and for a timeout from 1 to 120', async () => {
    const { message } = await failure({ toolDescription: ' ' });
    expect(message).toBe('The tool has no description');
    for (const timeout of [0, 121, '={{ "x" }}'])
      expect((await failure({ timeout })).message).toBe('The timeout is not from 1 to 120 seconds');
  });

  it('makes a JSON Schema of parameters of each type', () => {
    const { parameters } = define(
      withFields(
        { name: 'order_number', description: ' Such as A-1042 ' },
        { name: 'amount', type: 'number', required: false },
        { name: 'count', type: 'integer' },
        { name: 'gift', type: 'boolean', required: false },
        { name: 'speed', type: 'options', values: 'express, standard\nexpress,' },
      ),
    );
    expect(parameters).toEqual({
      type: 'object',
      properties: {
        order_number: { type: 'string', description: 'Such as A-1042' },
        amount: { type: 'number' },
        count: { type: 'integer' },
        gift: { type: 'boolean' },
        speed: { type: 'string', enum: ['express', 'standard'] },
      },
      required: ['order_number', 'count', 'speed'],
      additionalProperties: false,
    });
  });

  it('takes options and descriptions from expressions, which may give numbers or lists', () => {
    const { parameters } = define(
      withFields(
        { name: 'seats', type: 'options', values: '={{ [2, 4] }}', description: '={{ 4 }}' },
        { name: 'floor', type: 'options', values: '={{ 1 }}' },
      ),
    );
    expect(parameters).toMatchObject({
      properties: {
        seats: { enum: ['2', '4'], description: '4' },
        floor: { enum: ['1'] },
      },
    });
  });

  it.each<[string, IDataObject[]]>([
    ['"a b" cannot be the name of a parameter', [{ name: 'a b' }]],
    ['A parameter has no name', [{ name: '' }]],
    ['The parameter "a" is defined twice', [{ name: 'a' }, { name: 'a', type: 'number' }]],
    ['The parameter "speed" has no options', [{ name: 'speed', type: 'options', values: ' ,' }]],
  ])('refuses parameters: %s', async (message, fields) => {
    expect(await failure(withFields(...fields))).toMatchObject({
      name: 'NodeOperationError',
      message,
      description: expect.stringMatching(/./),
    });
  });

  it('takes a JSON Schema as it is, as text or from an expression', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^A' } },
      required: ['a'],
    };
    const json = (parametersSchema: string) =>
      define({ parametersMode: 'json', parametersSchema }).parameters;
    expect(json(JSON.stringify(schema))).toEqual(schema);
    expect(
      json(
        '={{ ({ type: "object", properties: { a: { type: "string", pattern: "^A" } }, required: ["a"] }) }}',
      ),
    ).toEqual(schema);
    expect(json('')).toEqual({ type: 'object' });
    expect(json('{"properties":{}}')).toEqual({ type: 'object', properties: {} });
  });

  it.each([
    ['{"type":', 'is not valid JSON'],
    ['[]', 'is not a JSON object'],
    ['"text"', 'is not a JSON object'],
    ['{"type":"string"}', 'does not describe an object'],
  ])('refuses the JSON Schema %s', async (parametersSchema, message) => {
    expect(await failure({ parametersMode: 'json', parametersSchema })).toMatchObject({
      name: 'NodeOperationError',
      message: expect.stringContaining(message),
    });
  });

  it('makes a draft for listening: another name of at most 64 characters, and no asking before it runs', () => {
    expect(testDefinition(define({ askBeforeRunning: true }))).toMatchObject({
      name: 'find_order_test',
      ask_before_running: false,
      parameters: {},
    });
    const long = testDefinition(define({ toolName: 'a'.repeat(64) })).name;
    expect([long.length, long.endsWith('a_test')]).toEqual([64, true]);
  });
});

describe('Sample arguments', () => {
  const sample = (parameters: IDataObject) => {
    const made = context(parameters);
    return readSample(made, readDefinition(made).parameters);
  };

  it('are those that were entered', () => {
    const fields = withFields({ name: 'a' }, { name: 'b', required: false });
    expect(sample({ ...fields, sampleArguments: '{"a":"A-1042"}' })).toEqual({ a: 'A-1042' });
    expect(
      sample({ parametersMode: 'json', parametersSchema: '{}', sampleArguments: '{"any":1}' }),
    ).toEqual({ any: 1 });
    expect(() => sample({ ...fields, sampleArguments: '[1]' })).toThrow(
      '"Sample Arguments" is not a JSON object',
    );
    expect(() => sample({ ...fields, sampleArguments: '{"b":"x"}' })).toThrow(
      '"Sample Arguments" has no "a"',
    );
    expect(() => sample({ ...fields, sampleArguments: '{"a":"x","constructor":1}' })).toThrow(
      '"Sample Arguments" has "constructor"',
    );
  });

  it('are made from the fields when none are entered', () => {
    const fields = withFields(
      { name: 'a' },
      { name: 'b', type: 'number' },
      { name: 'c', type: 'integer' },
      { name: 'd', type: 'boolean', required: false },
      { name: 'e', type: 'options', values: 'x,y' },
    );
    expect(sample(fields)).toEqual({ a: 'sample', b: 1, c: 1, d: true, e: 'x' });
    expect(fits(define(fields).parameters, sample(fields))).toBe(true);
  });

  it.each<[IDataObject, unknown]>([
    [{ type: 'string' }, 'sample'],
    [{ type: 'string', minLength: 8 }, 'samplexx'],
    [{ type: 'string', maxLength: 3 }, 'sam'],
    [{ type: 'string', format: 'email' }, 'sample@example.com'],
    [{ type: 'string', format: 'date' }, '2026-01-31'],
    [{ type: 'string', format: 'date-time' }, '2026-01-31T10:00:00Z'],
    [{ type: 'string', format: 'uri' }, 'https://example.com/sample'],
    [{ type: 'string', format: 'uuid' }, '00000000-0000-4000-8000-000000000000'],
    [{ type: 'string', format: 'duration' }, 'P1D'],
    [{ type: 'string', format: 'ipv4' }, '192.0.2.1'],
    [{ type: 'string', format: 'ipv6' }, '2001:db8::1'],
    [{ type: 'string', format: 'unheard-of' }, 'sample'],
    [{ enum: ['x', 'y'] }, 'x'],
    [{ const: 0 }, 0],
    [{ type: 'string', default: 'given' }, 'given'],
    [{ type: 'string', pattern: '^A', examples: ['A-1'] }, 'A-1'],
    [{ type: 'number' }, 1],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: 'number', maximum: -2 }, -2],
    [{ type: 'integer', exclusiveMinimum: 1 }, 2],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 0.5 }, 0.25],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: 'integer', minimum: 1.5 }, 2],
    [{ type: 'integer', exclusiveMinimum: 0.5, maximum: 1 }, 1],
    [{ type: 'number', exclusiveMinimum: 0.5 }, 1],
    [{ type: 'integer', exclusiveMaximum: 1 }, 0],
    [{ type: 'integer', multipleOf: 10 }, 10],
    [{ type: 'integer', minimum: 11, multipleOf: 10 }, 20],
    [{ type: 'integer', maximum: 0, multipleOf: 10 }, 0],
    [{ type: 'boolean' }, true],
    [{ type: 'null' }, null],
    [{ type: ['null', 'integer'] }, 1],
    [{ type: 'array', items: { type: 'integer' } }, [1]],
    [{ type: 'array', items: { type: 'string' }, minItems: 2 }, ['sample', 'sample']],
    [{ type: 'array' }, ['sample']],
    [{ type: 'object', properties: { b: { type: 'boolean' } } }, { b: true }],
    [{ properties: { b: { type: 'boolean' } } }, { b: true }],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [{ oneOf: [{ const: 'x' }] }, 'x'],
    [{ allOf: [{ type: 'integer' }, { minimum: 3 }] }, 3],
    [{ $ref: '#/$defs/Speed' }, 'express'],
    [{}, 'sample'],
  ])('are made for %j', (property, expected) => {
    const schema = {
      type: 'object',
      properties: { it: property },
      required: ['it'],
      $defs: { Speed: { enum: ['express'] } },
    };
    expect(sampleArguments(schema)).toEqual({ it: expected });
    expect(fits(schema, { it: expected } as IDataObject)).toBe(true);
  });

  it('leave out an optional text with a pattern, and try a required one', () => {
    const properties = {
      a: { type: 'string', pattern: '^A' },
      b: { type: 'string', pattern: '^s' },
      c: { anyOf: [{ type: 'string', pattern: '^C' }, { type: 'null' }] },
      d: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^D' }] },
    };
    expect(sampleArguments({ type: 'object', properties, required: ['b'] })).toEqual({
      b: 'sample',
      d: 1,
    });
  });

  it('come to an end when a schema refers to itself', () => {
    const Node = {
      type: 'object',
      properties: {
        next: { $ref: '#/$defs/Node' },
        list: { type: 'array', items: { $ref: '#/$defs/Node' } },
      },
    };
    const schema = {
      type: 'object',
      properties: { first: { $ref: '#/$defs/Node' } },
      $defs: { Node },
    };
    expect(fits(schema, sampleArguments(schema))).toBe(true);
    const strict = { ...Node, required: ['next'] };
    expect(sampleArguments({ ...schema, $defs: { Node: strict } })).toBeDefined();
  });
});
