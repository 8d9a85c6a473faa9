// What compose.yaml, the Dockerfile and the units start, run for real as far as that goes without a
// container engine.
import base from '../../jest.config.mjs';

export default {
  ...base,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/deploy/running/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
  testTimeout: 60_000,
};
