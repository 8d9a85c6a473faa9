// What a release consists of: the tarballs of both packages, their checksums and the notes.
//
//   node scripts/release/artifacts.ts [--to <folder>] [--tag v0.2.0]
//
// With --tag, it first checks that the tag, the packages and the changelog agree.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { notesOf, sectionsOf } from './changelog.ts';
import { currentVersion, PACKAGES, readRepository, type Repository } from './packages.ts';

/** The stage of the Dockerfile that makes each image, by the image's name. */
const IMAGES: Readonly<Record<string, string>> = {
  'conversation-service': 'service',
  'conversation-service-n8n': 'n8n',
};

/** The command that builds and pushes one image, for somebody without publish.yml. */
function imageCommand(
  name: string,
  target: string,
  version: string,
  repository: Repository | null,
): string {
  const image = `ghcr.io/${(repository?.owner ?? 'OWNER').toLowerCase()}/${name}`;
  const tags = [version, version.replace(/\.\d+$/, ''), 'latest'];
  return [
    `docker buildx build --target ${target} --platform linux/amd64,linux/arm64`,
    '--sbom=true --provenance=mode=max',
    ...tags.map((tag) => `--tag ${image}:${tag}`),
    ...(repository ? [`--label org.opencontainers.image.source=${repository.page}`] : []),
    '--push .',
  ].join(' ');
}

/**
 * Makes everything in a folder, from built packages.
 * @returns the names of the tarballs
 */
export function makeArtifacts(root: string, to: string): string[] {
  const version = currentVersion(root);
  const repository = readRepository(root);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const tarballs = PACKAGES.map((folder) => pack(join(root, folder), to));
  const sums = tarballs.map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(to, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(to, 'SHA256SUMS'), sums.join(''));
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  writeFileSync(join(to, 'notes.md'), notesOf(changelog, version, repository?.page));
  const commands = Object.entries(IMAGES).map(
    ([name, target]) => `${imageCommand(name, target, version, repository)}\n`,
  );
  writeFileSync(join(to, 'images.sh'), commands.join(''));
  return tarballs;
}

function pack(folder: string, to: string): string {
  // On Windows, npm is a script that needs a shell, for which Node quotes nothing.
  const shell = process.platform === 'win32';
  const destination = shell ? `"${resolve(to)}"` : resolve(to);
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', destination],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26, shell },
  );
  if (status !== 0) throw new Error(`npm pack failed in ${folder}: ${stderr}`);
  return (JSON.parse(stdout) as [{ filename: string }])[0].filename;
}

/** @throws Error that says what does not agree with the tag */
export function checkTag(root: string, tag: string): void {
  const version = currentVersion(root);
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and the packages are ${version}.`);
  const [latest] = sectionsOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  if (latest?.name !== version || !/^\d{4}-\d\d-\d\d$/.test(latest.date ?? ''))
    throw new Error(`CHANGELOG.md does not begin with a dated section for ${version}.`);
  if (readRepository(root) === null)
    throw new Error('Owner and author in .github/repository.json are not filled in.');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: { to: { type: 'string', default: 'release' }, tag: { type: 'string' } },
  });
  const root = fileURLToPath(new URL('../..', import.meta.url));
  try {
    if (values.tag !== undefined) checkTag(root, values.tag);
    for (const name of makeArtifacts(root, resolve(values.to))) console.log(join(values.to, name));
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
