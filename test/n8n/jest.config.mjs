// The suites that need a real n8n. One worker runs them one after the other.
import base from '../jest.config.mjs';

export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/n8n/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/test/n8n/globalSetup.mjs',
  testEnvironment: '<rootDir>/test/browser/environment.mjs',
  maxWorkers: 1,
  testTimeout: 240_000,
};
