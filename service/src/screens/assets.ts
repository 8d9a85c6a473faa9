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
  'htmx-sse.js': { path: resolve('htmx-ext-sse/dist/sse.min.js'), type: 'text/javascript' },
  'chat.css': { path: ours('chat.css'), type: 'text/css' },
  'chat.js': { path: ours('chat.js'), type: 'text/javascript' },
  'chat-api.js': { path: ours('chat-api.js'), type: 'text/javascript' },
  'chat-log.js': { path: ours('chat-log.js'), type: 'text/javascript' },
  'chat-outbox.js': { path: ours('chat-outbox.js'), type: 'text/javascript' },
  'chat-storage.js': { path: ours('chat-storage.js'), type: 'text/javascript' },
  'pay.js': { path: ours('pay.js'), type: 'text/javascript' },
  'pay.css': { path: ours('pay.css'), type: 'text/css' },
  'chat-stream.js': { path: ours('chat-stream.js'), type: 'text/javascript' },
} as const;

type AssetName = keyof typeof FILES;

interface Asset {
  readonly type: string;
  readonly content: Buffer;
  readonly version: string;
}

const loaded = new Map<string, Asset>();

function load(name: AssetName): Asset {
  const known = loaded.get(name);
  if (known) return known;
  const { path, type } = FILES[name];
  const content = withVersionedImports(readFileSync(path));
  const asset = {
    type,
    content,
    version: createHash('sha256').update(content).digest('hex').slice(0, 12),
  };
  loaded.set(name, asset);
  return asset;
}

/**
 * A module of ours asks for the others by the addresses that they have now: browsers keep each for
 * a year.
 */
const withVersionedImports = (content: Buffer): Buffer =>
  Buffer.from(
    content
      .toString('utf8')
      .replace(/(?<=^import .* from ')\.\/([a-z-]+\.js)(?=';$)/gm, (_, name: string) =>
        assetUrl(name as AssetName),
      ),
  );

for (const name of Object.keys(FILES)) load(name as AssetName);

/** An asset's address, another one whenever its content changes. */
export function assetUrl(name: AssetName): string {
  return `/assets/${name}?v=${load(name).version}`;
}

export function assetsRouter(): Router {
  const router = Router();
  router.get('/assets/:name', (request, response, next) => {
    const file = loaded.get(request.params.name);
    if (!file) return next();
    response
      .set('Cache-Control', 'public, max-age=31536000, immutable')
      .type(file.type)
      .send(file.content);
  });
  return router;
}
