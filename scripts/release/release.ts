// `npm run release [-- <version>] [--dry-run] [--no-checks]`: everything of a release up to the push.
//
// It sets the version, dates the changelog, runs the checks, packs both packages, commits and tags.
// A dry run does all of it in a clone that it throws away, and leaves the result in release/.
// docs/releasing.md
import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeArtifacts } from './artifacts.ts';
import { dated, unreleasedOf } from './changelog.ts';
import { shareModules } from './modules.ts';
import {
  currentVersion,
  DOCUMENTS,
  readRepository,
  updateDocuments,
  writeManifests,
} from './packages.ts';

const CHECKS = ['lint', 'build', 'test', 'scan'];
/** The files that a release writes. */
const WRITTEN = [
  'CHANGELOG.md',
  'package.json',
  'package-lock.json',
  'service/package.json',
  ...DOCUMENTS,
];
const NO_OWNER =
  'There is no repository yet. Fill in its owner and the author in .github/repository.json: the one place where they stand.';

class Refused extends Error {}

function run(
  root: string,
  command: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): string {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    // On Windows, npm is a script that needs a shell. Git does not: one splits `dry run` in two.
    shell: command === 'npm' && process.platform === 'win32',
    ...options,
  });
  if (error) throw error;
  if (status !== 0) throw new Refused(`${[command, ...args].join(' ')} failed.`);
  return String(stdout ?? '').trim();
}

const git = (root: string, ...args: string[]) => run(root, 'git', args);

/** @returns the version that the argument or the changelog names */
function versionToRelease(
  given: string | undefined,
  changelog: string,
  released: readonly string[],
): string {
  const { version: named } = unreleasedOf(changelog);
  const version = given ?? named;
  if (version === null)
    throw new Refused('Say which version: npm run release -- 0.2.0, or name it in CHANGELOG.md.');
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new Refused(`${version} is not a version. Write it like 0.2.0.`);
  if (named !== null && named !== version)
    throw new Refused(
      `CHANGELOG.md calls the unreleased section ${named}, not ${version}: release that one, or change its heading.`,
    );
  const newest = released
    .map((tag) => tag.slice(1))
    .sort(compareVersions)
    .at(-1);
  if (newest !== undefined && compareVersions(version, newest) <= 0)
    throw new Refused(`${version} is not newer than ${newest}, which is tagged.`);
  return version;
}

const compareVersions = (a: string, b: string): number =>
  a.localeCompare(b, 'en', { numeric: true });

/** Why a release cannot be made now. */
function refusals(root: string): string[] {
  const changes = git(root, 'status', '--porcelain');
  return [
    ...(readRepository(root) === null ? [NO_OWNER] : []),
    ...(changes === '' ? [] : [`There are changes that are not committed:\n${changes}`]),
    ...(git(root, 'branch', '--show-current') === 'main' ? [] : ['This is not the branch main.']),
  ];
}

interface ReleaseOptions {
  readonly given: string | undefined;
  readonly to: string;
  readonly checks: readonly string[];
  /** Options of git that name the committer. */
  readonly identity?: readonly string[];
}

interface MadeRelease {
  readonly version: string;
  readonly tarballs: readonly string[];
}

/** Makes the release in `root`: files, checks, artifacts, commit and tag. */
function make(root: string, { given, to, checks, identity = [] }: ReleaseOptions): MadeRelease {
  const path = join(root, 'CHANGELOG.md');
  const changelog = readFileSync(path, 'utf8');
  const tags = git(root, 'tag', '--list', 'v*.*.*').split('\n').filter(Boolean);
  const version = versionToRelease(given, changelog, tags);
  const repository = readRepository(root);
  const today = new Date().toISOString().slice(0, 10);
  console.log(`${currentVersion(root)} → ${version}, dated ${today}`);
  try {
    writeManifests(root, version, repository);
    if (repository !== null) updateDocuments(root, version, repository);
    writeFileSync(path, dated(changelog, version, today));
    // tsc keeps what it compiled from files that no longer exist.
    rmSync(join(root, 'service', 'dist'), { recursive: true, force: true });
    for (const check of checks) {
      console.log(`\n> npm run ${check}`);
      run(root, 'npm', ['run', check], { stdio: 'inherit' });
    }
    const tarballs = makeArtifacts(root, to);
    git(root, 'add', '--', ...WRITTEN);
    git(root, ...identity, 'commit', '--quiet', '--message', `chore(release): ${version}`);
    git(root, ...identity, 'tag', '--annotate', `v${version}`, '--message', `${version}`);
    return { version, tarballs };
  } catch (error) {
    // From HEAD: a commit that failed leaves the files staged.
    git(root, 'checkout', 'HEAD', '--', ...WRITTEN);
    throw error;
  }
}

function report(to: string, { version, tarballs }: MadeRelease): void {
  const read = (name: string) => readFileSync(join(to, name), 'utf8');
  console.log(`\nRelease ${version}, in ${to}:`);
  for (const name of [...tarballs, 'SHA256SUMS', 'notes.md', 'images.sh']) console.log(`  ${name}`);
  console.log('\nImages, which publish.yml builds:');
  console.log(read('images.sh').replace(/^(?=.)/gm, '  '));
  console.log(`Release notes:\n\n${read('notes.md')}`);
}

/** A clone of what is committed, with the modules that are installed here. */
function cloneOf(root: string): string {
  const clone = join(mkdtempSync(join(tmpdir(), 'conversation-release-')), 'clone');
  run(root, 'git', ['clone', '--quiet', root, clone]);
  git(clone, 'checkout', '--quiet', '-B', 'main');
  shareModules(root, clone);
  return clone;
}

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
const to = join(root, 'release');
// Ctrl-C ends the check that runs. It then fails like any other, and what was written is taken back.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
let clone: string | null = null;
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      checks: { type: 'boolean', default: true },
    },
  });
  const options = { given: positionals[0], to, checks: values.checks ? CHECKS : ['build'] };
  const refused = refusals(root);
  if (values['dry-run']) {
    clone = cloneOf(root);
    const identity = ['-c', 'user.name=dry run', '-c', 'user.email=dry-run@localhost'];
    report(to, make(clone, { ...options, identity }));
    console.log('This was a dry run: nothing was committed or tagged here.');
    for (const reason of refused) console.log(`A release would be refused: ${reason}`);
  } else {
    if (refused.length > 0) throw new Refused(refused.join('\n'));
    const made = make(root, options);
    report(to, made);
    console.log(`Committed and tagged v${made.version}. Push it, and publish.yml does the rest:`);
    console.log('\n  git push --atomic --follow-tags origin main');
    console.log('\nOr take it back, as long as it is not pushed:');
    console.log(`\n  git tag --delete v${made.version} && git reset --hard HEAD~1`);
  }
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  if (clone !== null) rmSync(join(clone, '..'), { recursive: true, force: true });
}
