import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';

const ours = (name: string) => fileURLToPath(new URL(`assets/${name}`, import.meta.url));
const { resolve } = createRequire(import.meta.url);

/** What pages load, all of it from here. */
const FILES = {
  'pico.css': { path: resolve('@picocss/pico/css/pico.min.css'), type: 'text/css' },
  'app.css': { path: ours('app.css'), type: 'text/css' },
  'app.js': { path: ours('app.js'), type: 'text/javascript' },
  'htmx.js': { path: resolve('htmx.org/dist/htmx.min.js'), type: 'text/javascript' },
  'htmx-sse.js': { path: resolve('htmx-ext-sse'), type: 'text/javascript' },
} as const;

type AssetName = keyof typeof FILES;

const read = (name: AssetName) => {
  const content = readFileSync(FILES[name].path);
  return { ...FILES[name], content, version: createHash('sha256').update(content).digest('hex').slice(0, 12) };
};

const loaded = new Map(Object.keys(FILES).map((name) => [name, read(name as AssetName)]));

/** An asset's address, another one whenever its content changes. */
export const assetUrl = (name: AssetName): string => `/assets/${name}?v=${loaded.get(name)!.version}`;

export function assetsRouter(): Router {
  const router = Router();
  router.get('/assets/:name', (request, response, next) => {
    const file = loaded.get(request.params.name);
    if (!file) return next();
    response.set('Cache-Control', 'public, max-age=31536000, immutable').type(file.type).send(file.content);
  });
  return router;
}
