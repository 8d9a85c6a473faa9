// Holds verify.mjs against the test vectors: node check.mjs
import { readFileSync } from 'node:fs';
import { isGenuine } from './verify.mjs';

const { vectors } = JSON.parse(readFileSync(new URL('../vectors.json', import.meta.url), 'utf8'));
const wrong = vectors.filter(
  ({ header, body, secret, now, valid }) =>
    isGenuine(header, Buffer.from(body, 'utf8'), secret, 300, now) !== valid,
);
for (const { name } of wrong) console.error(`wrong: ${name}`);
console.log(`${vectors.length - wrong.length} of ${vectors.length} vectors are right`);
process.exitCode = wrong.length === 0 ? 0 : 1;
