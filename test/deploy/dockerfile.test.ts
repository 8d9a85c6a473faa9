import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { ignoredBy, readCopy, readDockerfile } from './dockerfile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const stages = readDockerfile(read('Dockerfile'));
const isIgnored = ignoredBy(read('.dockerignore'));

/** Reads the Dockerfile only; running/image.test.ts runs its lines. */
describe('Dockerfile', () => {
  it('makes the service in its last stage, which does not run as root and has a health check', () => {
    const service = stages.at(-1)!;
    expect(service.name).toBe('service');
    const linesOf = (keyword: string) =>
      service.instructions.filter((each) => each.keyword === keyword).map(({ text }) => text);
    expect(linesOf('USER')).toEqual(['1000:1000']);
    expect(linesOf('VOLUME')).toEqual(['/data']);
    expect(linesOf('ENTRYPOINT')).toEqual(['["node", "/app/service/dist/main.js"]']);
    expect(linesOf('HEALTHCHECK')[0]).toMatch(/CMD \["node", "\/app\/healthcheck\.mjs"\]$/);
    expect(linesOf('RUN')).toEqual(['mkdir ../data && chown 1000:1000 ../data']);
  });

  it('installs no development dependencies, and takes node_modules from that installation alone', () => {
    const runs = (name: string) =>
      stages
        .find((stage) => stage.name === name)!
        .instructions.filter(({ keyword }) => keyword === 'RUN')
        .map(({ text }) => text);
    expect(runs('dependencies')).toEqual([
      'npm ci --workspace service --omit=dev --no-audit --no-fund',
    ]);
    const copies = stages
      .at(-1)!
      .instructions.filter(({ keyword }) => keyword === 'COPY')
      .map(({ text }) => readCopy(text));
    const hasModules = (path: string) =>
      path.includes('node_modules') || ['/app', '/app/service'].includes(path);
    const withModules = copies.filter(({ sources }) => sources.some(hasModules));
    expect(withModules.map(({ from }) => from)).toEqual(['dependencies', 'dependencies']);
  });

  it('copies from the repository only files that exist and that .dockerignore lets through', () => {
    const copies = stages.flatMap(({ instructions }) =>
      instructions.filter(({ keyword }) => keyword === 'COPY').map(({ text }) => readCopy(text)),
    );
    const own = copies.filter(({ from }) => from === null).flatMap(({ sources }) => sources);
    expect(own.length).toBeGreaterThan(5);
    for (const path of own.filter((source) => source !== '.'))
      expect([path, existsSync(join(root, path)), isIgnored(path)]).toEqual([path, true, false]);
    for (const { from } of copies)
      if (from !== null) expect(stages.map(({ name }) => name)).toContain(from);
  });

  it.each([
    '.env',
    '.git',
    '.git/config',
    'data',
    'data/encryption.key',
    'node_modules',
    'service/node_modules/x/index.js',
    'service/dist/main.js',
    'dist',
    'test/jest.config.mjs',
    'docs',
    'service/.env',
    'service/data/journal',
    'conversations.export',
  ])('%s stays out of the build', (path) => expect(isIgnored(path)).toBe(true));

  it.each([
    'package.json',
    'service/src/main.ts',
    'service/src/platform/html/assets/styles/base.css',
    'test/package.json',
    'nodes/ConversationService/ConversationService.node.ts',
    '.npmrc',
    'deploy/healthcheck.mjs',
    'examples/workflows/find-order-tool.json',
  ])('%s goes in', (path) =>
    expect([existsSync(join(root, path)), isIgnored(path)]).toEqual([true, false]),
  );

  it('puts our package into the version of n8n that the nodes are tested with', () => {
    const { dependencies } = JSON.parse(read('test/n8n/runtime/package.json')) as {
      dependencies: { n8n: string };
    };
    expect(stages.find(({ name }) => name === 'n8n')!.base).toBe(`n8nio/n8n:${dependencies.n8n}`);
  });
});
