// The names, versions, contents and changelog of the published packages agree with each other.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { addressesOf, PACKAGES, readRepository } from '../../scripts/release/packages.ts';
import { sectionsOf } from '../../scripts/release/changelog.ts';
import { cleanEnv } from '../helpers/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const json = (path: string) => JSON.parse(read(path)) as Record<string, unknown>;

/** The paths that npm would publish of each package, sorted. */
async function publishedPaths(): Promise<string[][]> {
  const folders = PACKAGES.map((folder) => join(root, folder));
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--dry-run', '--json', '--ignore-scripts', ...folders],
    { cwd: root, env: cleanEnv(), maxBuffer: 1 << 26 },
  );
  const packed = JSON.parse(stdout) as { files: { path: string }[] }[];
  return packed.map(({ files }) => files.map(({ path }) => path).sort());
}

describe('the packages', () => {
  it('have the expected names, one version, one licence, and a lock file that fits', () => {
    const manifests = PACKAGES.map((folder) => json(join(folder, 'package.json')));
    expect(manifests.map(({ name }) => name)).toEqual([
      'n8n-nodes-conversation-service',
      'conversation-service',
    ]);
    const lock = json('package-lock.json') as unknown as {
      version: string;
      packages: Record<string, { version?: string }>;
    };
    const versions = [
      ...manifests.map(({ version }) => version),
      lock.version,
      lock.packages['']!.version,
      lock.packages['service']!.version,
    ];
    expect(new Set(versions).size).toBe(1);
    expect(new Set(manifests.map(({ license }) => license))).toEqual(new Set(['MIT']));
    expect(read('service/LICENSE')).toBe(read('LICENSE'));
    expect(json('service/package.json').engines).toEqual({ node: '>=24' });
  });

  it('name the repository that .github/repository.json names, or none', () => {
    const repository = readRepository(root);
    for (const folder of PACKAGES) {
      const { repository: named, bugs } = json(join(folder, 'package.json'));
      const expected = addressesOf(repository, folder) as { repository?: object; bugs?: string };
      // Filled in by the release, so before it they may be missing.
      if (named === undefined && bugs === undefined) continue;
      expect([folder, named, bugs]).toEqual([folder, expected.repository, expected.bugs]);
    }
  });

  it('hold what they need and nothing else', async () => {
    const [nodes, service] = (await publishedPaths()) as [string[], string[]];
    expect(nodes.filter((path) => !path.startsWith('dist/'))).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    expect(nodes.filter((path) => !/^(dist\/(nodes|credentials)\/|[^/]+$)/.test(path))).toEqual([]);
    const { n8n } = json('package.json') as { n8n: { nodes: string[]; credentials: string[] } };
    const icons = ['conversationService.svg', 'conversationService.dark.svg'];
    expect(nodes).toEqual(
      expect.arrayContaining([
        ...n8n.nodes,
        ...n8n.nodes.map((node) => node.replace(/\.js$/, '.json')),
        ...n8n.credentials,
        ...icons.map((icon) => `dist/nodes/ConversationService/${icon}`),
      ]),
    );
    expect(service.filter((path) => !path.startsWith('dist/'))).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    const { bin } = json('service/package.json') as { bin: Record<string, string> };
    expect(service).toContain(bin['conversation-service']);
  });

  it('have the version with which the changelog begins; its sections go back in time', () => {
    const sections = sectionsOf(read('CHANGELOG.md'));
    const { version } = json('package.json');
    const released = sections.filter(({ date }) => /^\d{4}-/.test(date ?? ''));
    const unreleased = sections.filter((section) => !released.includes(section));
    expect(unreleased.length).toBeLessThanOrEqual(1);
    if (unreleased.length === 1) expect(sections[0]).toBe(unreleased[0]);
    // Before the first release, its own section is the unreleased one.
    expect((released[0] ?? unreleased[0])!.name).toBe(version);
    const dates = released.map(({ date }) => date!);
    expect(dates).toEqual([...dates].sort().reverse());
    for (const { text } of sections) expect(text).toMatch(/^- /m);
  });

  it('have an image of the same name, and the documents that people look for', () => {
    expect(read('compose.yaml')).toContain('image: ${SERVICE_IMAGE:-conversation-service}');
    for (const file of ['SECURITY.md', 'CONTRIBUTING.md', 'LICENSE', 'service/README.md'])
      expect([file, existsSync(join(root, file))]).toEqual([file, true]);
  });
});
