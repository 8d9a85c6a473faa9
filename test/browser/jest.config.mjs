// The screens in Debian's Chromium, against the real service.
import base from '../jest.config.mjs';

export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testEnvironment: '<rootDir>/test/browser/environment.mjs',
  maxWorkers: 1,
  testTimeout: 120_000,
};
