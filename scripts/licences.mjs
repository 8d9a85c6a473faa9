// `npm run licences`: everything that users install with the service has a licence that permits it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PERMITTED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT/X11', // an old name of MIT
  'Python-2.0',
  'Unlicense',
]);

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const lock = read(join(root, 'package-lock.json')).packages;

/** @returns the lock file's key of the package that Node finds from a folder; null: not installed */
function findKey(folder, name) {
  const key = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
  if (lock[key] !== undefined) return key;
  return folder === '' ? null : findKey(outerFolder(folder), name);
}

/** Where Node looks next: in the folder that holds this package's node_modules, or this workspace. */
const outerFolder = (folder) => folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$|^[^/]+$/, '');

/** The keys of all that a package depends on, with what only other systems install. */
function treeOf(start) {
  const seen = new Set();
  const queue = [start];
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lock[key];
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    for (const name of names) {
      const found = findKey(key, name);
      if (found === null || seen.has(found)) continue;
      seen.add(found);
      queue.push(found);
    }
  }
  return [...seen].sort();
}

/** Of `MIT OR GPL-3.0`, one is enough; of `MIT AND ISC`, both are needed. AND binds closer. */
const isPermittedFlat = (licence) =>
  licence
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => PERMITTED.has(each.trim())));

/** What is in parentheses counts as one licence, the innermost first. */
function isPermitted(licence) {
  const [group, inner] = /\(([^()]*)\)/.exec(licence) ?? [];
  if (group === undefined) return isPermittedFlat(licence);
  return isPermitted(licence.replace(group, isPermittedFlat(inner) ? 'MIT' : 'refused'));
}

const licenceOf = (key) => {
  if (typeof lock[key].license === 'string') return lock[key].license;
  const manifest = join(root, key, 'package.json');
  return existsSync(manifest) ? String(read(manifest).license ?? 'none') : 'unknown';
};

const tree = treeOf('service');
const refused = tree
  .map((key) => [key, licenceOf(key)])
  .filter(([, licence]) => !isPermitted(licence));
for (const [key, licence] of refused) console.error(`${key}: ${licence}`);
console.log(`${tree.length} packages, ${refused.length} with a licence that is not permitted`);
// With fewer packages than that, the lock file was not read as it is meant.
const isWhole = tree.length > 50;
process.exitCode = isWhole && refused.length === 0 ? 0 : 1;
