import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { checkSignature } from '../../nodes/ConversationService/shared/signature';
import { SETTINGS } from '../../service/src/config.ts';
import { BOUNDS } from '../../service/src/limits/bounds.ts';
import { operations } from '../../service/src/http/contract/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('the documentation keeps step with the code', () => {
  it('README and .env.example list exactly the variables that config.ts reads', () => {
    const supported = [...SETTINGS].sort();
    expect(supported.length).toBeGreaterThan(15);
    const inEnv = [...read('.env.example').matchAll(/^# ?([A-Z][A-Z0-9_]+)=/gm)].map(
      ([, name]) => name!,
    );
    expect([...new Set(inEnv)].sort()).toEqual(supported);
    const table = read('README.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    for (const name of supported)
      expect(table.some((line) => line.split('|')[1]!.includes(`\`${name}\``))).toBe(true);
  });

  it('the README shows the very code of the receivers', () => {
    const readme = read('README.md').replace(/\s+/g, ' ');
    for (const language of ['node', 'python', 'php', 'go']) {
      const folder = `examples/receivers/${language}`;
      const verify = readdirSync(join(root, folder)).find((name) => name.startsWith('verify.'))!;
      expect({
        verify,
        shown: readme.includes(read(join(folder, verify)).trim().replace(/\s+/g, ' ')),
      }).toEqual({ verify, shown: true });
    }
  });

  it('docs/operations.md lists exactly the bounds that /metrics counts', () => {
    const section = read('docs/operations.md')
      .split('\n## ')
      .find((part) => part.startsWith('Bounds\n'))!;
    const named = section
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) =>
        [...line.split('|')[1]!.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!),
      );
    expect(named.sort()).toEqual(Object.keys(BOUNDS).sort());
  });

  it('the README names every endpoint', () => {
    const readme = read('README.md');
    for (const { path } of operations)
      expect(readme).toContain(`/api${path.replace(/:([a-z_]+)/g, '{$1}')}`);
  });
});

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly header: string | null;
  readonly body: string;
  readonly now: number;
  readonly valid: boolean;
}

describe("the trigger's signature check and the test vectors of the examples", () => {
  const file = JSON.parse(read('examples/receivers/vectors.json')) as { vectors: Vector[] };
  it.each(file.vectors.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const check = checkSignature({
      header: vector.header ?? undefined,
      body: Buffer.from(vector.body),
      secret: vector.secret,
      toleranceSeconds: 300,
      nowSeconds: vector.now,
    });
    expect(check === 'valid').toBe(vector.valid);
  });
});
