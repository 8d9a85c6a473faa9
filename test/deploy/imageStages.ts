// Runs the COPY and RUN lines of the Dockerfile in plain folders, one for each stage, where an engine
// would run them in images.
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
  /** From ENV. */
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly gid: number;
  /** ENTRYPOINT and CMD. */
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/** A stage before the first of its lines. */
const newStage = (root: string) => ({
  root,
  workdir: '/',
  env: {} as Record<string, string>,
  uid: 0,
  gid: 0,
  entrypoint: [] as string[],
  cmd: [] as string[],
  healthcheck: [] as string[],
});
type NewStage = ReturnType<typeof newStage>;

/**
 * The base image of a stage is an empty folder here; the Node that runs this is first on the PATH.
 * @param context the build's context
 * @param out an empty folder
 */
export async function buildStages(
  context: string,
  out: string,
): Promise<Record<string, BuiltStage>> {
  const isIgnored = ignoredBy(await readFile(join(context, '.dockerignore'), 'utf8'));
  const built: Record<string, BuiltStage> = {};
  const stages = readDockerfile(await readFile(join(context, 'Dockerfile'), 'utf8'));
  for (const { name, instructions } of stages) {
    const stage = newStage(join(out, name));
    await mkdir(stage.root);
    for (const instruction of instructions) await perform(instruction, stage);
    built[name] = { ...stage, command: [...stage.entrypoint, ...stage.cmd] };
  }
  return built;

  async function perform({ keyword, text }: Instruction, stage: NewStage): Promise<void> {
    if (keyword === 'WORKDIR') {
      stage.workdir = text;
      await mkdir(join(stage.root, text), { recursive: true });
    } else if (keyword === 'RUN') {
      if (/(^|[\s"'=])\//.test(text))
        throw new Error(`RUN ${text}: a path from / would leave the folder; name it from WORKDIR`);
      await run('sh', ['-c', text], {
        cwd: join(stage.root, stage.workdir),
        env: cleanEnv(),
        maxBuffer: 1 << 26,
      });
    } else if (keyword === 'COPY') await performCopy(text, stage);
    else if (keyword === 'ENV')
      for (const pair of text.split(/\s+/)) {
        const [name, value] = pair.split('=') as [string, string];
        stage.env[name] = value;
      }
    else if (keyword === 'USER')
      [stage.uid, stage.gid] = text.split(':').map(Number) as [number, number];
    else if (keyword === 'ENTRYPOINT') stage.entrypoint = JSON.parse(text) as string[];
    else if (keyword === 'CMD') stage.cmd = JSON.parse(text) as string[];
    else if (keyword === 'HEALTHCHECK')
      stage.healthcheck = JSON.parse(text.slice(text.indexOf('CMD ') + 4)) as string[];
    else if (!['VOLUME', 'EXPOSE'].includes(keyword))
      throw new Error(`not understood: ${keyword} ${text}`);
  }

  /** Copies what is in a folder, or a file. */
  async function performCopy(text: string, { root, workdir }: NewStage): Promise<void> {
    const { from, sources, target } = readCopy(text);
    const isContext = from === null;
    const sourceRoot = isContext ? context : built[from]!.root;
    const to = join(root, resolve(workdir, target));
    const isIntoFolder = sources.length > 1 || target.endsWith('/');
    for (const source of sources.map((path) => join(sourceRoot, path))) {
      if (!statSync(source).isDirectory()) {
        await copyFile(source, isIntoFolder ? join(to, basename(source)) : to, isContext);
        continue;
      }
      await mkdir(to, { recursive: true });
      if (!isContext) await cp(source, to, { recursive: true, verbatimSymlinks: true });
      else
        for (const path of contextFiles(source))
          await copyFile(path, join(to, path.slice(source.length + 1)), true);
    }
  }

  /**
   * Gives a file of the context the rights that a checkout under umask 077 has, so that a build that
   * needs more fails here.
   */
  async function copyFile(from: string, to: string, isContext: boolean): Promise<void> {
    await mkdir(dirname(to), { recursive: true, ...(isContext ? { mode: 0o700 } : {}) });
    await cp(from, to);
    if (isContext) await chmod(to, statSync(to).mode & 0o700);
  }

  /** What .dockerignore lets through. It skips folders that never get through. */
  function* contextFiles(folder: string): Generator<string> {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!['node_modules', '.git', 'dist'].includes(entry.name)) yield* contextFiles(path);
      } else if (!isIgnored(path.slice(context.length + 1))) yield path;
    }
  }
}
