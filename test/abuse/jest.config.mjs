// Attacks on a real service, one after the other, with the machine to themselves. DATABASE_URL
// chooses the store as everywhere; ABUSE=short is the form for CI.
import base from '../jest.config.mjs';

export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/abuse/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // The table comes before jest's own closing lines, which stay the last.
  reporters: ['<rootDir>/test/abuse/reporter.mjs', 'default'],
  maxWorkers: 1,
  testTimeout: 300_000,
};
