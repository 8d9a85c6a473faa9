// `npm run release` in a copy of the repository: what it refuses, a dry run and a release.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { checkTag } from '../../../scripts/release/artifacts.ts';
import { dated, notesOf, unreleasedOf } from '../../../scripts/release/changelog.ts';
import { shareModules } from '../../../scripts/release/modules.ts';
import { cleanEnv } from '../../helpers/program.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const TIMEOUT_MS = 300_000;
const IDENTITY = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com'];

describe('npm run release', () => {
  let folder: string;
  let start: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-release-'));
    // The copy starts with the files as they are here now, committed or not.
    git('init', '--quiet', '--initial-branch', 'main');
    const files = sh(root, 'git', 'ls-files', '--cached', '--others', '--exclude-standard');
    const list = join(folder, '.git/files');
    writeFileSync(list, files);
    const tar = join(folder, '.git/files.tar');
    sh(root, 'tar', '--create', '--file', tar, '--ignore-failed-read', '--files-from', list);
    sh(folder, 'tar', '--extract', '--file', tar);
    shareModules(root, folder);
    commit('everything');
    start = git('rev-parse', 'HEAD').trim();
  }, TIMEOUT_MS);
  // Each test begins with the same commit. What is built stays, so that no test builds it all again.
  beforeEach(() => {
    git('checkout', '--quiet', '--force', '-B', 'main', start);
    git('clean', '--quiet', '--force', '-d');
    for (const tag of git('tag').split('\n').filter(Boolean)) git('tag', '--delete', tag);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const sh = (cwd: string, command: string, ...args: string[]): string => {
    const done = spawnSync(command, args, {
      cwd,
      env: cleanEnv(),
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };
  const git = (...args: string[]) => sh(folder, 'git', ...IDENTITY, ...args);
  const commit = (message: string) => {
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
  };
  const release = (...args: string[]) => {
    const script = join(folder, 'scripts/release/release.ts');
    return spawnSync(process.execPath, [script, ...args], {
      cwd: folder,
      env: cleanEnv({
        GIT_AUTHOR_NAME: 'Ana',
        GIT_AUTHOR_EMAIL: 'ana@example.com',
        GIT_COMMITTER_NAME: 'Ana',
        GIT_COMMITTER_EMAIL: 'ana@example.com',
      }),
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
  };
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(folder, path), change(read(path)));
  const fillIn = (owner: string) =>
    edit('.github/repository.json', (text) =>
      text
        .replace(/"owner": "[^"]*"/, `"owner": "${owner}"`)
        .replace(/"author": .*/, '"author": { "name": "Ana", "email": "ana@example.com" }'),
    );
  /** Makes it look as if `version` was released: with its tag, and then something unreleased. */
  const pretendReleased = (version: string) => {
    const entries =
      '- Something that is\n  new.\n- [The inbox](docs/inbox.md), on [npm](https://www.npmjs.com).';
    edit('CHANGELOG.md', (text) =>
      text
        .replace(/^## \[([^\]]+)\] - Unreleased$/m, '## [$1] - 2026-01-01')
        .replace(/^## /m, `## [Unreleased]\n\n### Added\n\n${entries}\n\n## `),
    );
    git('tag', `v${version}`);
  };

  it(
    'refuses without an owner, on another branch, with uncommitted changes, without a newer version, or without anything new',
    () => {
      const refusedFor = (reason: RegExp, ...args: string[]) => {
        const { status, stderr } = release('--no-checks', ...args);
        expect(stderr).toMatch(reason);
        expect(status).toBe(1);
      };
      fillIn('');
      git('commit', '--quiet', '--allow-empty', '--all', '--message', 'no owner');
      refusedFor(/Fill in its owner and the author in \.github\/repository\.json/);
      fillIn('acme');
      refusedFor(/changes that are not committed/);
      commit('owner');
      git('checkout', '--quiet', '-b', 'other');
      refusedFor(/not the branch main/);
      git('checkout', '--quiet', 'main');
      pretendReleased('0.1.0');
      commit('something new');
      refusedFor(/Say which version/);
      refusedFor(/0\.1\.0 is not newer than 0\.1\.0/, '0.1.0');
      refusedFor(/soon is not a version/, 'soon');
      edit('CHANGELOG.md', (text) =>
        text.replace(/\n### Added\n\n- Something that is\n {2}new\.\n- .*\n/, ''),
      );
      commit('nothing new');
      refusedFor(/unreleased section of CHANGELOG\.md is empty/, '0.2.0');
      expect(git('status', '--porcelain')).toBe('');
      expect(git('tag').trim()).toBe('v0.1.0');
    },
    TIMEOUT_MS,
  );

  it(
    'writes tarballs, checksums, notes and the images’ build commands in a dry run, and changes nothing',
    () => {
      fillIn('');
      pretendReleased('0.1.0');
      commit('something new');
      const before = git('rev-parse', 'HEAD');
      const { status, stdout, stderr } = release('0.2.0', '--dry-run', '--no-checks');
      expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain('→ 0.2.0');
      expect(stdout).toMatch(
        /docker buildx build --target service --platform linux\/amd64,linux\/arm64/,
      );
      expect(stdout).toContain('### Added\n\n- Something that is new.');
      expect(stdout).toMatch(/A release would be refused: .*Fill in its owner and the author/);
      expect(readdirSync(join(folder, 'release')).sort()).toEqual([
        'SHA256SUMS',
        'conversation-service-0.2.0.tgz',
        'images.sh',
        'n8n-nodes-conversation-service-0.2.0.tgz',
        'notes.md',
      ]);
      for (const line of read('release/SHA256SUMS').trim().split('\n')) {
        const [sum, name] = line.split('  ');
        const bytes = readFileSync(join(folder, 'release', name!));
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum);
      }
      expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual([before, '']);
      expect(git('tag').trim()).toBe('v0.1.0');
    },
    TIMEOUT_MS,
  );

  it(
    'sets versions, addresses and the date, commits and tags',
    () => {
      fillIn('acme');
      pretendReleased('0.1.0');
      commit('something new');
      const { status, stdout } = release('0.2.0', '--no-checks');
      expect([status, stdout]).toEqual([
        0,
        expect.stringContaining('git push --atomic --follow-tags'),
      ]);
      expect(git('log', '-1', '--format=%s').trim()).toBe('chore(release): 0.2.0');
      expect(git('tag', '--points-at', 'HEAD').trim()).toBe('v0.2.0');
      expect(git('status', '--porcelain')).toBe('');
      for (const [manifest, directory] of [
        ['package.json', {}],
        ['service/package.json', { directory: 'service' }],
      ] as const)
        expect(JSON.parse(read(manifest))).toMatchObject({
          version: '0.2.0',
          repository: {
            type: 'git',
            url: 'git+https://github.com/acme/n8n-nodes-conversation-service.git',
            ...directory,
          },
          bugs: 'https://github.com/acme/n8n-nodes-conversation-service/issues',
          author: { name: 'Ana', email: 'ana@example.com' },
        });
      const notes = read('release/notes.md');
      expect(notes).toContain(
        '](https://github.com/acme/n8n-nodes-conversation-service/blob/v0.2.0/docs/inbox.md)',
      );
      expect(notes).toContain('](https://www.npmjs.com)');
      expect(read('README.md')).toContain('ghcr.io/acme/conversation-service\n');
      expect(read('docs/self-hosting.md')).toContain(
        'ghcr.io/acme/conversation-service-n8n:0.2.0`',
      );
      const page = 'https://github.com/acme/n8n-nodes-conversation-service';
      expect(read('service/README.md')).toContain(`](${page}/blob/v0.2.0/docs/self-hosting.md)`);
      expect(read('service/README.md')).not.toContain('](../');
      expect(read('CHANGELOG.md')).toMatch(/^## \[0\.2\.0\] - \d{4}-\d\d-\d\d$/m);
      expect(() => checkTag(folder, 'v0.2.0')).not.toThrow();
      expect(() => checkTag(folder, 'v0.2.1')).toThrow(/The tag is v0\.2\.1/);
    },
    TIMEOUT_MS,
  );

  it(
    'undoes its changes when a check or the commit fails',
    () => {
      fillIn('acme');
      pretendReleased('0.1.0');
      commit('something new');
      const fails = (reason: RegExp, ...args: string[]) => {
        const before = git('rev-parse', 'HEAD');
        const { status, stderr } = release('0.2.0', ...args);
        expect(stderr).toMatch(reason);
        expect([status, git('rev-parse', 'HEAD')]).toEqual([1, before]);
        expect([git('status', '--porcelain'), git('tag').trim()]).toEqual(['', 'v0.1.0']);
      };
      const hook = join(folder, '.git/hooks/commit-msg');
      writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      fails(/git commit .* failed/, '--no-checks');
      unlinkSync(hook);
      edit('package.json', (text) =>
        text.replace(/"lint": ".*"/, '"lint": "node --eval process.exit(3)"'),
      );
      commit('a lint that finds something');
      fails(/npm run lint failed/);
    },
    TIMEOUT_MS,
  );
});

describe('the changelog', () => {
  const text = `# Changelog\n\n## [0.2.0] - Unreleased\n\n### Added\n\n- One thing\n  on two lines.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n`;
  it('gets a release’s date; its section, with wrapped lines joined, is the release’s notes', () => {
    expect(unreleasedOf(text)).toMatchObject({ version: '0.2.0' });
    const changed = dated(text, '0.2.0', '2026-11-25');
    expect(changed).toContain('## [0.2.0] - 2026-11-25\n');
    expect(changed).toContain('## [0.1.0] - 2026-01-01\n');
    expect(notesOf(changed, '0.2.0')).toBe('### Added\n\n- One thing on two lines.\n');
    expect(() => unreleasedOf(changed)).toThrow(/no unreleased section/);
  });
});
