// Runs a suite with jest's own framework (jest-circus) on modules that Node itself loads. jest would
// load the service and its packages anew for each suite, in a context of its own: a third of the
// time of all tests. Here suites share what a worker has loaded, but for the files of test/, since
// their hooks and what they remember belong to one suite.
import { createRequire, registerHooks } from 'node:module';
import { dirname, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const TEST_FOLDER = new URL('.', import.meta.url).href;
const GLOBALS = '@jest/globals';
/** jest-circus keeps a suite's tests and hooks in its modules. */
const CIRCUS = dirname(require.resolve('jest-circus/package.json')) + sep;
const CIRCUS_HANDLERS = Symbol.for('EVENT_HANDLERS');
const CIRCUS_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

/** Counts the suites of this worker; part of the addresses of modules that belong to one. */
let suite = 0;
/** What a suite imports from `@jest/globals`, and finds as globals. */
let globals = {};

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === GLOBALS) return { url: `${GLOBALS}:${suite}`, shortCircuit: true };
    const resolved = nextResolve(specifier, context);
    return resolved.url.startsWith(TEST_FOLDER) && resolved.url.endsWith('.ts')
      ? { ...resolved, url: `${resolved.url}?suite=${suite}` }
      : resolved;
  },
  load(url, context, nextLoad) {
    if (!url.startsWith(`${GLOBALS}:`)) return nextLoad(url, context);
    const source = `export const { ${Object.keys(globals)} } = globalThis;`;
    return { format: 'module', source, shortCircuit: true };
  },
});

/**
 * jest's `testRunner`.
 * @see https://jestjs.io/docs/configuration#testrunner-string
 */
export default async function runSuite(
  globalConfig,
  config,
  environment,
  _runtime,
  path,
  sendMessageToJest,
) {
  suite += 1;
  forgetLastSuite();
  const env = { ...process.env };
  try {
    const { default: runCircus } = require('jest-circus/runner');
    const runtime = nodeRuntime(environment);
    return await runCircus(globalConfig, config, environment, runtime, path, sendMessageToJest);
  } finally {
    for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, env);
  }
}

function forgetLastSuite() {
  for (const file of Object.keys(require.cache))
    if (file.startsWith(CIRCUS)) Reflect.deleteProperty(require.cache, file);
  globalThis[CIRCUS_HANDLERS] = undefined;
  globalThis[CIRCUS_TIMEOUT] = undefined;
}

/** What jest-circus calls of jest's module loader, done by Node. */
function nodeRuntime({ moduleMocker }) {
  return {
    requireInternalModule: require,
    requireModule: require,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path)),
    enterTestCode() {},
    leaveTestCode() {},
    setGlobalsForRuntime(given) {
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
