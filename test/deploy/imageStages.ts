// Runs the COPY and RUN lines of the Dockerfile in plain folders, one for each stage, as an engine
// would in images.
import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnv } from '../helpers/program.ts';
import { ignoredBy, readCopy, readDockerfile, type Instruction } from './dockerfile.ts';

const run = promisify(execFile);

export interface BuiltStage {
  /** What `/` is in the image. */
  readonly root: string;
  readonly workdir: string;
  /** Of ENV. */
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly gid: number;
  /** ENTRYPOINT and CMD. */
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/**
 * Images that stages begin with are empty folders here, and this very Node is on the PATH.
 * @param context the build's context
 * @param out an empty folder
 */
export async function buildStages(
  context: string,
  out: string,
): Promise<Record<string, BuiltStage>> {
  const isIgnored = ignoredBy(await readFile(join(context, '.dockerignore'), 'utf8'));
  const built: Record<string, BuiltStage> = {};
  for (const { name, instructions } of readDockerfile(
    await readFile(join(context, 'Dockerfile'), 'utf8'),
  )) {
    const root = join(out, name);
    await mkdir(root);
    const stage = {
      root,
      workdir: '/',
      env: {} as Record<string, string>,
      uid: 0,
      gid: 0,
      entrypoint: [] as string[],
      cmd: [] as string[],
      healthcheck: [] as string[],
    };
    for (const instruction of instructions) await perform(instruction, stage);
    built[name] = { ...stage, command: [...stage.entrypoint, ...stage.cmd] };

    async function perform({ keyword, text }: Instruction, image: typeof stage): Promise<void> {
      if (keyword === 'WORKDIR') {
        image.workdir = text;
        await mkdir(join(root, text), { recursive: true });
      } else if (keyword === 'RUN') {
        if (/(^|[\s"'=])\//.test(text))
          throw new Error(
            `RUN ${text}: a path from / would leave the folder; name it from WORKDIR`,
          );
        await run('sh', ['-c', text], {
          cwd: join(root, image.workdir),
          env: cleanEnv(),
          maxBuffer: 1 << 26,
        });
      } else if (keyword === 'COPY') {
        const { from, sources, target } = readCopy(text);
        const source = from === null ? context : built[from]!.root;
        const into = join(root, resolve(image.workdir, target));
        const many = sources.length > 1 || target.endsWith('/');
        for (const each of sources) await copy(join(source, each), into, many, from === null);
      } else if (keyword === 'ENV')
        Object.assign(
          image.env,
          Object.fromEntries(text.split(/\s+/).map((pair) => pair.split('='))),
        );
      else if (keyword === 'USER')
        [image.uid, image.gid] = text.split(':').map(Number) as [number, number];
      else if (keyword === 'ENTRYPOINT') image.entrypoint = JSON.parse(text) as string[];
      else if (keyword === 'CMD') image.cmd = JSON.parse(text) as string[];
      else if (keyword === 'HEALTHCHECK')
        image.healthcheck = JSON.parse(text.slice(text.indexOf('CMD ') + 4)) as string[];
      else if (!['VOLUME', 'EXPOSE'].includes(keyword))
        throw new Error(`not understood: ${keyword} ${text}`);
    }
  }
  return built;

  /** A folder's content goes in, a file itself. */
  async function copy(from: string, to: string, many: boolean, ofContext: boolean): Promise<void> {
    if (statSync(from).isDirectory()) {
      await mkdir(to, { recursive: true });
      if (!ofContext) return cp(from, to, { recursive: true, verbatimSymlinks: true });
      for (const path of contextFiles(from))
        await copyFile(path, join(to, path.slice(from.length + 1)), true);
    } else await copyFile(from, many ? join(to, basename(from)) : to, ofContext);
  }

  /** The context's files as a checkout under umask 077 has them: nothing may depend on another. */
  async function copyFile(from: string, to: string, ofContext: boolean): Promise<void> {
    await mkdir(dirname(to), { recursive: true, ...(ofContext ? { mode: 0o700 } : {}) });
    await cp(from, to);
    if (ofContext) await chmod(to, statSync(to).mode & 0o700);
  }

  /** What .dockerignore lets through. Folders that are never let through are not looked into. */
  function* contextFiles(folder: string): Generator<string> {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!['node_modules', '.git', 'dist'].includes(entry.name)) yield* contextFiles(path);
      } else if (!isIgnored(path.slice(context.length + 1))) yield path;
    }
  }
}
