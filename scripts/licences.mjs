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

/** Where Node finds a package from a folder, as a key of the lock file. */
function find(from, name) {
  for (
    let folder = from;
    ;
    folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$|^[^/]+$/, '')
  ) {
    const key = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (lock[key] !== undefined) return key;
    if (folder === '') return null;
  }
}

/** All that the service depends on, with what is optional on other systems. */
function treeOf(start) {
  const seen = new Set();
  const queue = [start];
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lock[key];
    for (const name of Object.keys({
      ...dependencies,
      ...optionalDependencies,
      ...peerDependencies,
    })) {
      const found = find(key, name);
      if (found === null || seen.has(found)) continue;
      seen.add(found);
      queue.push(found);
    }
  }
  return [...seen].sort();
}

/** Of `MIT OR GPL-3.0`, one is enough; of `MIT AND ISC`, each is needed. AND binds closer. */
const isPermittedFlat = (licence) =>
  licence
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => PERMITTED.has(each.trim())));

/** What is in parentheses counts as one licence, the innermost first. */
function isPermitted(licence) {
  const [inner, words] = /\(([^()]*)\)/.exec(licence) ?? [];
  if (inner === undefined) return isPermittedFlat(licence);
  return isPermitted(licence.replace(inner, isPermittedFlat(words) ? 'MIT' : 'refused'));
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
process.exitCode = refused.length === 0 && tree.length > 50 ? 0 : 1;
