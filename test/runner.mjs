// jest's test runner here. jest-circus (describe, it, hooks, time limits) runs each suite as usual, but
// Node loads the modules. jest would load the service and its packages anew for each suite: a third of
// the time of all tests. So the suites of a worker share them, and Node's globals. Each suite has its
// own copy only of the .ts files of test/ that it imports, whose hooks and variables belong to one suite.
// See docs/decisions/0052-node-loads-the-modules-of-the-tests.md.
import { createRequire, registerHooks } from 'node:module';
import { dirname, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const TEST_FOLDER = new URL('.', import.meta.url).href;
const GLOBALS = '@jest/globals';
const CIRCUS = dirname(require.resolve('jest-circus/package.json')) + sep;
const CIRCUS_STATE = 'JEST_STATE_SYMBOL';
const CIRCUS_HANDLERS = Symbol.for('EVENT_HANDLERS');
const CIRCUS_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

/** Counts the suites of this worker. */
let suite = 0;
/** What the suite imports from `@jest/globals`, and finds as globals. */
let globals = {};
/** The copy of each file of test/ that belongs to the suite. */
const copies = new Map();

/**
 * Node loads a module once for each address, and keeps what it compiled under that address. Numbers
 * of copies, rather than of suites, are the same from run to run.
 */
function ownCopy(url) {
  const last = copies.get(url);
  const copy = last?.suite === suite ? last : { suite, number: (last?.number ?? 0) + 1 };
  copies.set(url, copy);
  return `${url}?copy=${copy.number}`;
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === GLOBALS) return { url: `${GLOBALS}:${suite}`, shortCircuit: true };
    const resolved = nextResolve(specifier, context);
    const { url } = resolved;
    const isOwn = url.startsWith(TEST_FOLDER) && url.endsWith('.ts');
    return isOwn ? { ...resolved, url: ownCopy(url) } : resolved;
  },
  load(url, context, nextLoad) {
    if (!url.startsWith(`${GLOBALS}:`)) return nextLoad(url, context);
    const source = `export const { ${Object.keys(globals)} } = globalThis;`;
    return { format: 'module', source, shortCircuit: true };
  },
});

/**
 * Not async, or each failure would show a line of this file in place of the test's.
 * @see https://jestjs.io/docs/configuration#testrunner-string
 */
export default function runSuite(globalConfig, config, environment, _runtime, ...rest) {
  suite += 1;
  forgetLastSuite();
  const { env } = process;
  const values = { ...env };
  const { default: runCircus } = require('jest-circus/runner');
  return runCircus(globalConfig, config, environment, nodeRuntime(environment), ...rest).finally(
    () => {
      process.env = env;
      for (const name of Object.keys(env)) Reflect.deleteProperty(env, name);
      Object.assign(env, values);
    },
  );
}

/** jest-circus keeps a suite's tests and hooks in variables of its modules and on globalThis. */
function forgetLastSuite() {
  for (const file of Object.keys(require.cache))
    if (file.startsWith(CIRCUS)) Reflect.deleteProperty(require.cache, file);
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (symbol.description === CIRCUS_STATE) Reflect.deleteProperty(globalThis, symbol);
  globalThis[CIRCUS_HANDLERS] = undefined;
  globalThis[CIRCUS_TIMEOUT] = undefined;
}

/** The part of jest's module loader that jest-circus calls. */
function nodeRuntime({ moduleMocker }) {
  return {
    requireInternalModule: require,
    requireModule: require,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path)),
    enterTestCode() {},
    leaveTestCode() {},
    setGlobalsForRuntime(given) {
      // What suites use of `jest`; add what is missing.
      const jest = {
        fn: moduleMocker.fn.bind(moduleMocker),
        spyOn: moduleMocker.spyOn.bind(moduleMocker),
        restoreAllMocks: () => moduleMocker.restoreAllMocks(),
        setTimeout: (milliseconds) => void (globalThis[CIRCUS_TIMEOUT] = milliseconds),
      };
      globals = { ...given, jest };
      Object.assign(globalThis, globals);
    },
  };
}
