// Load with crashes in the middle: minutes long, and with the machine to itself.
import base from '../jest.config.mjs';

export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/chaos/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/chaos/postgres/'],
  maxWorkers: 1,
  testTimeout: 600_000,
};
