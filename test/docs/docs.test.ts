import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import type * as actionNodeFile from '../../nodes/ConversationService/ConversationService.node';
import type * as signatureFile from '../../nodes/ConversationService/shared/signature';
import { SETTINGS } from '../../service/src/app/config.ts';
import { ERROR_CATALOGUE } from '../../service/src/platform/http/errorCatalogue.ts';
import { BOUNDS } from '../../service/src/platform/limits/bounds.ts';
import { operations } from '../../service/src/app/api/apiOperations.ts';
import { builtFile } from '../nodes/helpers/builtFile.ts';

const { ConversationService } = builtFile<typeof actionNodeFile>('ConversationService.node');
const { checkSignature } = builtFile<typeof signatureFile>('shared/signature');

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The text below a heading of the second level, up to the next one. */
const sectionOf = (path: string, heading: string): string =>
  read(path)
    .split('\n## ')
    .find((part) => part.startsWith(`${heading}\n`))!;

/** What `name` finds in the first cells of a text's tables. */
const firstCells = (text: string, name: RegExp): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(name)].map(([, found]) => found!));

/** The endpoints in a page's tables. `PUT` and `DELETE /api/a` in one cell share the path. */
function endpointsIn(page: string): string[] {
  let methods: string[] = [];
  return firstCells(page, /`([A-Z]+(?: \/api[^`?]*)?)[^`]*`/g).flatMap((named) => {
    const [method, path] = named.split(' ') as [string, string?];
    methods.push(method);
    if (path === undefined) return [];
    const endpoints = methods.map((each) => `${each} ${path}`);
    methods = [];
    return endpoints;
  });
}

const optionsOf = (property: INodeProperties | undefined) =>
  (property?.options ?? []) as INodePropertyOptions[];

describe('the documentation keeps step with the code', () => {
  it('docs/self-hosting.md and .env.example list exactly the variables that config.ts reads', () => {
    const supported = [...SETTINGS].sort();
    expect(supported.length).toBeGreaterThan(15);
    const inEnv = [...read('.env.example').matchAll(/^# ?([A-Z][A-Z0-9_]+)=/gm)].map(
      ([, name]) => name!,
    );
    expect([...new Set(inEnv)].sort()).toEqual(supported);
    const settings = sectionOf('docs/self-hosting.md', 'Settings');
    expect(firstCells(settings, /`([A-Z][A-Z0-9_]+)`/g).sort()).toEqual(supported);
  });

  it('docs/events-and-signatures.md shows the code of the receivers word for word', () => {
    const page = read('docs/events-and-signatures.md').replace(/\s+/g, ' ');
    for (const language of ['node', 'python', 'php', 'go']) {
      const folder = `examples/receivers/${language}`;
      const verify = readdirSync(join(root, folder)).find((name) => name.startsWith('verify.'))!;
      expect({
        verify,
        shown: page.includes(read(join(folder, verify)).trim().replace(/\s+/g, ' ')),
      }).toEqual({ verify, shown: true });
    }
  });

  it('docs/operations.md lists exactly the bounds that /metrics counts', () => {
    const bounds = sectionOf('docs/operations.md', 'Bounds');
    expect(firstCells(bounds, /`([a-z_]+)`/g).sort()).toEqual(Object.keys(BOUNDS).sort());
  });

  it('CONTRIBUTING.md is short: reference is in docs/', () =>
    expect(read('CONTRIBUTING.md').split('\n').length).toBeLessThan(150));

  it('docs/api.md lists exactly the endpoints, and names every error code', () => {
    const page = read('docs/api.md');
    const endpoints = operations.map(
      ({ method, path }) => `${method.toUpperCase()} /api${path.replace(/:([a-z_]+)/g, '{$1}')}`,
    );
    expect(endpointsIn(page).sort()).toEqual(endpoints.sort());
    for (const code of Object.keys(ERROR_CATALOGUE)) expect(page).toContain(`\`${code}\``);
  });

  it('the README names every operation of the node', () => {
    const table = sectionOf('README.md', 'The nodes and their operations')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const { properties } = new ConversationService().description;
    const resources = optionsOf(properties.find(({ name }) => name === 'resource'));
    expect(resources.length).toBeGreaterThan(4);
    for (const { name, value } of resources) {
      const operation = properties.find(
        (property) =>
          property.name === 'operation' && property.displayOptions?.show?.resource?.[0] === value,
      );
      const named = table.filter((cells) => cells[1] === name).map((cells) => cells[2]!);
      expect(named.flatMap((cell) => cell.split(', ')).sort()).toEqual(
        optionsOf(operation)
          .map((option) => option.name)
          .sort(),
      );
    }
  });
});

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly header: string | null;
  readonly body: string;
  readonly now: number;
  readonly valid: boolean;
}

describe("the trigger's signature check and the test vectors of the examples", () => {
  const file = JSON.parse(read('examples/receivers/vectors.json')) as { vectors: Vector[] };
  it.each(file.vectors.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const check = checkSignature({
      header: vector.header ?? undefined,
      body: Buffer.from(vector.body),
      secret: vector.secret,
      toleranceSeconds: 300,
      nowSeconds: vector.now,
    });
    expect(!('problem' in check)).toBe(vector.valid);
  });
});
