import { beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { INodeProperties, INodePropertyOptions, INodeType } from 'n8n-workflow';
import { TURN_STATUSES } from '../../service/src/agent/webhook/webhookTurn.ts';
import { CHANNEL_TYPES } from '../../service/src/conversations/contact.ts';
import {
  CONVERSATION_STATUSES,
  FUNNEL_STAGES,
  VERDICTS,
} from '../../service/src/conversations/conversation.ts';
import { PAYMENT_PROVIDERS, PAYMENT_STATUSES } from '../../service/src/payments/payment.ts';
import { TOOL_STATUSES } from '../../service/src/tools/tool.ts';
import { TOOL_CALL_STATUSES } from '../../service/src/tools/calls/toolCall.ts';
import { core } from './helpers/n8n.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const loader = new core.PackageDirectoryLoader(root);
beforeAll(() => loader.loadAll());
const descriptionOf = (name: string) => (loader.nodeTypes[name]!.type as INodeType).description;
const actionProperties = () => descriptionOf('conversationService').properties;
/** The properties, each collection replaced by its fields. */
const fieldsOf = (properties: INodeProperties[]) =>
  properties.flatMap((each) =>
    each.type === 'collection' ? (each.options as INodeProperties[]) : [each],
  );

describe('The package, loaded by n8n’s own loader', () => {
  it('has the nodes and the credential, with icons for both themes and a place in the node panel', () => {
    expect(Object.keys(loader.nodeTypes).sort()).toEqual([
      'conversationService',
      'conversationServiceAgentCallTrigger',
      'conversationServiceAgentTrigger',
      'conversationServiceTrigger',
    ]);
    expect(Object.keys(loader.credentialTypes)).toEqual(['conversationServiceApi']);
    for (const { type } of Object.values(loader.nodeTypes)) {
      const { iconUrl, codex, subtitle } = type.description;
      expect(iconUrl).toEqual({
        light: expect.stringContaining('.svg'),
        dark: expect.stringContaining('.dark.svg'),
      });
      expect(codex).toMatchObject({
        categories: expect.arrayContaining(['Communication']),
        resources: { primaryDocumentation: [expect.anything()] },
      });
      expect(subtitle).toBeTruthy();
    }
  });

  it('lets agents use the actions, and nothing else', () => {
    expect(descriptionOf('conversationService').usableAsTool).toBe(true);
    for (const trigger of [
      'conversationServiceTrigger',
      'conversationServiceAgentCallTrigger',
      'conversationServiceAgentTrigger',
    ]) {
      expect(descriptionOf(trigger).usableAsTool).toBeUndefined();
      expect(descriptionOf(trigger)).toMatchObject({
        eventTriggerDescription: expect.any(String),
        activationMessage: expect.any(String),
        triggerPanel: {
          header: expect.any(String),
          executionsHelp: { active: expect.any(String), inactive: expect.any(String) },
          activationHint: expect.any(String),
        },
      });
    }
  });

  it('has no <br> tag, which n8n shows as text in some places', () => {
    for (const { type } of Object.values(loader.nodeTypes))
      expect(JSON.stringify((type as INodeType).description)).not.toMatch(/<br/i);
  });

  it('names the agent call trigger so that n8n does not take it for a tool, and "tool" finds it', () => {
    // n8n's editor warns of missing AI parameters wherever a type's name has "tool" in it.
    expect(Object.keys(loader.nodeTypes).filter((name) => /tool/i.test(name))).toEqual([]);
    const { displayName, codex } = descriptionOf('conversationServiceAgentCallTrigger');
    // n8n calls the action, as a tool of its own agents, "Conversation Service Tool".
    expect(displayName).not.toContain('Tool');
    expect(codex!.alias).toContain('tool');
  });

  it('has an action text and a description for each operation', () => {
    const operations = actionProperties()
      .filter(({ name }) => name === 'operation')
      .flatMap(({ options }) => options as INodePropertyOptions[]);
    expect(operations.length).toBeGreaterThan(40);
    for (const each of operations) {
      expect(each).toMatchObject({
        // Without articles, as n8n's guidelines have it.
        action: expect.stringMatching(/^[A-Z](?!.*\b(a|an|the)\b)/),
        description: expect.stringMatching(/^[A-Z]/),
      });
    }
  });

  it('lists the values of each choice in its description, which is what an AI agent reads', () => {
    const choices = fieldsOf(actionProperties()).filter(
      ({ type, noDataExpression, typeOptions }) => {
        const isChoice = type === 'options' || type === 'multiOptions';
        return isChoice && !noDataExpression && !typeOptions?.loadOptionsMethod;
      },
    );
    expect(choices.length).toBeGreaterThan(10);
    for (const { name, description, options } of choices) {
      for (const { value } of options as Array<{ value: string }>)
        expect([name, description]).toEqual([name, expect.stringContaining(value)]);
    }
  });

  it.each<[string, string, readonly string[]]>([
    ['conversation', 'verdict', VERDICTS],
    ['conversation', 'status', CONVERSATION_STATUSES],
    ['conversation', 'channel', CHANNEL_TYPES],
    ['conversation', 'funnel_stage', FUNNEL_STAGES],
    ['agentTurn', 'status', TURN_STATUSES],
    ['paymentLink', 'status', PAYMENT_STATUSES],
    ['paymentLink', 'provider', PAYMENT_PROVIDERS],
    ['tool', 'status', TOOL_STATUSES],
    ['toolCall', 'status', TOOL_CALL_STATUSES],
  ])('offers for %s every %s that the service knows', (resource, name, known) => {
    const ofResource = actionProperties().filter(({ displayOptions }) =>
      displayOptions?.show?.resource?.includes(resource),
    );
    const field = fieldsOf(ofResource).find((each) => each.name === name)!;
    const offered = (field.options as INodePropertyOptions[]).map(({ value }) => String(value));
    expect(offered.sort()).toEqual([...known].sort());
  });

  it('has the approval first, of which n8n makes its human review', () => {
    const { properties, webhooks } = descriptionOf('conversationService');
    // n8n takes the first operation that waits.
    const waiting = properties.filter(
      ({ name, options }) =>
        name === 'operation' &&
        (options as Array<{ value: string }>).some(({ value }) => value === 'sendAndWait'),
    );
    expect(waiting.map(({ displayOptions }) => displayOptions!.show!.resource)).toEqual([
      ['approval'],
      ['conversation'],
    ]);
    expect(webhooks).toEqual([
      expect.objectContaining({ httpMethod: 'POST', restartWebhook: true, isFullPath: true }),
    ]);
  });

  it('shows every field for its own operation only', () => {
    const fields = actionProperties().filter(
      ({ name }) => !['resource', 'operation'].includes(name),
    );
    for (const { displayOptions } of fields) {
      expect(displayOptions?.show).toMatchObject({
        resource: [expect.any(String)],
        operation: [expect.any(String)],
      });
    }
  });
});

describe('The package, as it is published', () => {
  const scripts = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js'))
      .map((path) => join(root, folder, path));

  it('depends on nothing at run time', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const each of ['dependencies', 'optionalDependencies', 'bundledDependencies'])
      expect(manifest).not.toHaveProperty(each);
  });

  it('loads only n8n-workflow, node:crypto and its own files', () => {
    const files = ['dist/nodes', 'dist/credentials'].flatMap(scripts);
    expect(files.length).toBeGreaterThan(20);
    const loaded = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name!),
    );
    expect([...new Set(loaded.filter((name) => !name.startsWith('.')))].sort()).toEqual([
      'n8n-workflow',
      'node:crypto',
    ]);
  });
});
