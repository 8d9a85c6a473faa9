// Chaos on PostgreSQL: several processes and a server of their own, all of them killed under load.
import base from '../jest.config.mjs';

export default {
  ...base,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/chaos/postgres/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
