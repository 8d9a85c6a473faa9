// n8n's own scan of community packages, on the source and on the freshly packed tarball.
//
//   node test/nodes/scan.mjs [folder that has @n8n/scan-community-package installed]
//
// Without a folder the scanner that scanner/package-lock.json pins is installed once into the
// user's cache. Warnings count as findings: the scanner's own analyzePackage() shows them only
// beside errors, so its rules are run here.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildNodes } from '../../scripts/build.mjs';
import { ensureInstalled } from '../helpers/pinnedPackages.ts';

// typescript newer than 5.9 breaks the scanner's parser; n8n-workflow is what the rules resolve.
const SCANNER = {
  name: 'scanner',
  manifestFolder: fileURLToPath(new URL('scanner/', import.meta.url)),
  cost: 'about half a minute',
};
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
  const scanner = process.argv[2] ? resolve(process.argv[2]) : await ensureInstalled(SCANNER);
  const { SOURCE_FILE_PATTERNS } = await import(pathToFileURL(join(scanner, INSTALLED)));
  const findings =
    (await scan(scanner, 'source', resolve(root), SOURCE_FILE_PATTERNS)) +
    (await scan(scanner, 'tarball', packInto(folder), ['**/*.js', 'package.json']));
  process.exitCode = findings === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
