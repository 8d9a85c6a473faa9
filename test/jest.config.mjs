// One runner for everything: real servers on port 0, real files in temporary folders.
// With DATABASE_URL in the environment the service's data is on that server instead.
import { availableParallelism } from 'node:os';
import { embeddedOnly } from './embeddedOnly.mjs';

const notHere = process.env.DATABASE_URL
  ? Object.keys(embeddedOnly).map((path) => `<rootDir>/${path}`)
  : [];

export default {
  rootDir: '..',
  globalSetup: '<rootDir>/test/globalSetup.mjs',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...notHere,
    '<rootDir>/test/n8n/',
    '<rootDir>/test/browser/',
    '<rootDir>/test/chaos/',
    '<rootDir>/test/abuse/',
    '<rootDir>/test/postgres/',
    '<rootDir>/test/deploy/running/',
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  transform: {},
  testRunner: '<rootDir>/test/runner.mjs',
  testEnvironment: '<rootDir>/test/environment.mjs',
  testSequencer: '<rootDir>/test/sequencer.mjs',
  testTimeout: 90_000,
  // At its end a worker writes what Node compiled, which takes longer than half a second.
  workerGracefulExitTimeout: 20_000,
  // Almost half of the suites' time is waiting for processes, disks and clocks.
  maxWorkers: availableParallelism() + 2,
};
