// n8n's own scan of community packages, on the source and on the freshly packed tarball.
//
//   node test/nodes/scan.mjs [folder that has @n8n/scan-community-package installed]
//
// Without a folder the scanner that scanner/package-lock.json pins is installed once into the
// user's cache. Warnings count as findings: the scanner's own analyzePackage() shows them only
// beside errors, so its rules are run here.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildNodes } from '../../scripts/build.mjs';

// typescript newer than 5.9 breaks the scanner's parser; n8n-workflow is what the rules resolve.
const MANIFEST = fileURLToPath(new URL('scanner/', import.meta.url));
const INSTALLED = join('node_modules', '@n8n', 'scan-community-package', 'scanner', 'scanner.mjs');
const root = fileURLToPath(new URL('../..', import.meta.url));

function run(command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

/**
 * The folder of the scanner, installed outside the repository so that no lint config is near it.
 */
function findScanner() {
  if (process.argv[2]) return resolve(process.argv[2]);
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const lock = readFileSync(join(MANIFEST, 'package-lock.json'));
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(cache, 'conversation-service', `scan-${version}`);
  if (existsSync(join(folder, INSTALLED))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(MANIFEST, name), join(folder, name));
  run('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'], folder);
  return folder;
}

/** Lints a package with the scanner's rules; returns the number of errors and warnings. */
async function scan(scanner, title, packageDir, patterns) {
  const require = createRequire(pathToFileURL(join(scanner, INSTALLED)));
  const load = async (name) => import(pathToFileURL(require.resolve(name)));
  const { buildScanConfig, analyzePackage } = await import(pathToFileURL(join(scanner, INSTALLED)));
  const { ESLint } = (await load('eslint')).default;
  const glob = (await load('fast-glob')).default;

  const verdict = await analyzePackage(packageDir, patterns);
  const files = glob.sync(patterns, {
    cwd: packageDir,
    absolute: true,
    ignore: ['node_modules/**', '**/package-lock.json'],
  });
  const eslint = new ESLint({
    cwd: packageDir,
    allowInlineConfig: false,
    overrideConfigFile: true,
    overrideConfig: await buildScanConfig(),
  });
  const results = await eslint.lintFiles(files);
  const findings = results.reduce(
    (sum, { errorCount, warningCount }) => sum + errorCount + warningCount,
    0,
  );
  process.stdout.write(
    `${title}: ${files.length} files, ${findings} findings, ${verdict.passed ? 'passed' : verdict.message}\n`,
  );
  if (findings > 0)
    process.stdout.write(await (await eslint.loadFormatter('stylish')).format(results));
  if (files.length === 0) process.stdout.write('Nothing was scanned.\n');
  return findings + (verdict.passed && files.length > 0 ? 0 : 1);
}

/** Packs what npm would publish and unpacks it again. */
function packInto(folder) {
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], root);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  run('tar', ['-xzf', tarball], folder);
  return join(folder, 'package');
}

const folder = mkdtempSync(join(tmpdir(), 'conversation-service-scan-'));
try {
  buildNodes();
  const scanner = findScanner();
  const { SOURCE_FILE_PATTERNS } = await import(pathToFileURL(join(scanner, INSTALLED)));
  const findings =
    (await scan(scanner, 'source', resolve(root), SOURCE_FILE_PATTERNS)) +
    (await scan(scanner, 'tarball', packInto(folder), ['**/*.js', 'package.json']));
  process.exitCode = findings === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
