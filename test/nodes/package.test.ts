import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { INodeProperties, INodeType } from 'n8n-workflow';
import { core } from './helpers/n8n.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const loader = new core.PackageDirectoryLoader(root);
beforeAll(() => loader.loadAll());

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
    const type = (name: string) => (loader.nodeTypes[name]!.type as INodeType).description;
    const triggers = [
      'conversationServiceTrigger',
      'conversationServiceAgentCallTrigger',
      'conversationServiceAgentTrigger',
    ].map(type);
    expect(
      [type('conversationService'), ...triggers].map(({ usableAsTool }) => usableAsTool),
    ).toEqual([true, undefined, undefined, undefined]);
    for (const each of triggers) {
      const panel = {
        header: expect.any(String),
        executionsHelp: { active: expect.any(String), inactive: expect.any(String) },
        activationHint: expect.any(String),
      };
      expect(each).toMatchObject({
        eventTriggerDescription: expect.any(String),
        activationMessage: expect.any(String),
        triggerPanel: panel,
      });
    }
  });

  it('breaks no line by a tag, which n8n shows as it stands in some places', () => {
    for (const { type } of Object.values(loader.nodeTypes))
      expect(JSON.stringify((type as INodeType).description)).not.toMatch(/<br/i);
  });

  it('names the trigger of a tool so that n8n takes it for no tool, and "tool" finds it', () => {
    // n8n's editor warns of missing AI parameters wherever a type's name has "tool" in it.
    expect(Object.keys(loader.nodeTypes).filter((name) => /tool/i.test(name))).toEqual([]);
    const { displayName, codex } = (
      loader.nodeTypes.conversationServiceAgentCallTrigger!.type as INodeType
    ).description;
    // n8n calls the action, as a tool of its own agents, "Conversation Service Tool".
    expect(displayName).not.toContain('Tool');
    expect(codex!.alias).toContain('tool');
  });

  it('has a resource and operation for all that the API offers, each with an action text', () => {
    const { properties } = (loader.nodeTypes.conversationService!.type as INodeType).description;
    const operations = (resource: string) =>
      properties
        .filter(
          ({ name, displayOptions }) =>
            name === 'operation' && displayOptions?.show?.resource?.includes(resource),
        )
        .flatMap(
          ({ options }) => options as Array<{ name: string; action: string; description: string }>,
        );
    expect(operations('agentTurn').map(({ name }) => name)).toEqual([
      'Close',
      'End',
      'Get',
      'Get Many',
      'Hand Over',
      'Reply',
    ]);
    expect(operations('contact').map(({ name }) => name)).toEqual(['Find', 'Get', 'Get Many']);
    expect(operations('conversation').map(({ name }) => name)).toEqual([
      'Close',
      'Find by Contact',
      'Get',
      'Get Many',
      'Hand Back',
      'Send and Wait for Reply',
      'Send Message',
      'Set Funnel Stage',
      'Take Over',
    ]);
    expect(operations('approval').map(({ name }) => name)).toEqual(['Ask and Wait']);
    expect(operations('message').map(({ name }) => name)).toEqual(['Get Many']);
    expect(operations('note').map(({ name }) => name)).toEqual(['Create']);
    expect(operations('paymentLink').map(({ name }) => name)).toEqual([
      'Cancel',
      'Create',
      'Get',
      'Get Many',
      'Mark as Paid',
    ]);
    expect(operations('subscription').map(({ name }) => name)).toEqual([
      'Delete',
      'Get Deliveries',
      'Get Events',
      'Get Many',
      'Get Sample',
      'Recover',
      'Redeliver',
      'Revoke Previous Secrets',
      'Rotate Secret',
      'Send Test Event',
    ]);
    expect(operations('tool').map(({ name }) => name)).toEqual([
      'Get',
      'Get Many',
      'Go Live',
      'Pause',
      'Test',
    ]);
    expect(operations('toolCall').map(({ name }) => name)).toEqual([
      'Approve',
      'Get',
      'Get Many',
      'Reject',
      'Respond',
    ]);
    for (const each of [
      'agent',
      'agentTurn',
      'contact',
      'conversation',
      'message',
      'note',
      'paymentLink',
      'subscription',
      'tool',
      'toolCall',
    ].flatMap(operations)) {
      expect(each).toEqual(
        expect.objectContaining({
          // Without articles, as n8n's guidelines have it.
          action: expect.stringMatching(/^[A-Z](?!.*\b(a|an|the)\b)/),
          description: expect.stringMatching(/^[A-Z]/),
        }),
      );
    }
  });

  it('lists the values of each choice in its description, which is what an AI agent reads', () => {
    const { properties } = (loader.nodeTypes.conversationService!.type as INodeType).description;
    const choices = properties
      .flatMap((each) =>
        each.type === 'collection' ? (each.options as INodeProperties[]) : [each],
      )
      .filter(({ type, noDataExpression, typeOptions }) => {
        const isChoice = type === 'options' || type === 'multiOptions';
        return isChoice && !noDataExpression && !typeOptions?.loadOptionsMethod;
      });
    expect(choices.length).toBeGreaterThan(10);
    for (const { name, description, options } of choices) {
      for (const { value } of options as Array<{ value: string }>)
        expect([name, description]).toEqual([name, expect.stringContaining(value)]);
    }
  });

  it('makes its human review, where n8n looks first, of the approval', () => {
    const { properties, webhooks } = (loader.nodeTypes.conversationService!.type as INodeType)
      .description;
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
    const { properties } = (loader.nodeTypes.conversationService!.type as INodeType).description;
    const fields = properties.filter(
      ({ name }: INodeProperties) => !['resource', 'operation'].includes(name),
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
  const scripts = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((each) => {
      const path = join(folder, each.name);
      if (each.isDirectory()) return scripts(path);
      return path.endsWith('.js') ? [path] : [];
    });

  it('depends on nothing at run time', () => {
    const { dependencies, optionalDependencies, bundledDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    expect([dependencies, optionalDependencies, bundledDependencies]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('loads only n8n-workflow, node:crypto and its own files', () => {
    const files = [
      ...scripts(join(root, 'dist/nodes')),
      ...scripts(join(root, 'dist/credentials')),
    ];
    expect(files.length).toBeGreaterThan(20);
    const loaded = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name!),
    );
    expect([...new Set(loaded.filter((name) => !name.startsWith('.')))].sort()).toEqual([
      'n8n-workflow',
      'node:crypto',
    ]);
  });

  it('holds the built nodes and nothing of the service or the tests', () => {
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      shell: process.platform === 'win32',
    });
    const [{ files }] = JSON.parse(listed) as [{ files: Array<{ path: string }> }];
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'package.json',
        'LICENSE',
        'dist/credentials/ConversationServiceApi.credentials.js',
        'dist/nodes/ConversationService/ConversationService.node.js',
        'dist/nodes/ConversationService/ConversationService.node.json',
        'dist/nodes/ConversationService/ConversationServiceAgentCallTrigger.node.js',
        'dist/nodes/ConversationService/ConversationServiceAgentCallTrigger.node.json',
        'dist/nodes/ConversationService/ConversationServiceAgentTrigger.node.js',
        'dist/nodes/ConversationService/ConversationServiceAgentTrigger.node.json',
        'dist/nodes/ConversationService/ConversationServiceTrigger.node.js',
        'dist/nodes/ConversationService/ConversationServiceTrigger.node.json',
        'dist/nodes/ConversationService/conversationService.svg',
        'dist/nodes/ConversationService/conversationService.dark.svg',
      ]),
    );
    expect(
      paths.filter(
        (path) =>
          !/^(package\.json|LICENSE|README\.md|CHANGELOG\.md|dist\/(nodes|credentials)\/.*)$/.test(
            path,
          ),
      ),
    ).toEqual([]);
  });
});
