// The service's suites on a real PostgreSQL server, which DATABASE_URL names. @see run.mjs
import { embeddedOnly } from '../embeddedOnly.mjs';
import base from '../jest.config.mjs';

export default {
  ...base,
  // A write costs more there: a test of thousands takes longer than 30 s on two busy cores.
  testTimeout: 120_000,
  rootDir: '../..',
  testMatch: ['service', 'nodes', 'examples', 'postgres', 'upgrade'].map(
    (folder) => `<rootDir>/test/${folder}/**/*.test.ts`,
  ),
  testPathIgnorePatterns: [
    '/node_modules/',
    ...Object.keys(embeddedOnly).map((path) => `<rootDir>/${path}`),
  ],
};
