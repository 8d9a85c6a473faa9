import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';

const { resolve } = createRequire(import.meta.url);
const ownFile = (name: string) => fileURLToPath(new URL(`assets/${name}`, import.meta.url));

const LIBRARY_FILES = {
  'htmx.js': resolve('htmx.org/dist/htmx.min.js'),
} as const;
/** Each style sheet of the team is these files of assets/styles, one after the other. */
const STYLES = {
  /** What every page has, and conversations. */
  'app.css': [
    'tokens',
    'base',
    'skip',
    'shell',
    'forms',
    'inbox',
    'teamwork',
    'shortcuts',
    'waiting',
    'tools',
    'payments',
    'connection',
  ],
  /** What the other sections have beyond that. */
  'sections.css': ['agent', 'toolPages', 'team', 'deliveries', 'channels', 'overview'],
  /** The API reference. */
  'reference.css': ['tokens', 'base', 'skip', 'reference'],
} as const;
type StyleSheet = keyof typeof STYLES;
const isStyleSheet = (name: string): name is StyleSheet => name in STYLES;
const OWN_FILES = [
  'alerts.js',
  'announcer.js',
  'app.js',
  'toasts.js',
  'mark.svg',
  'canned-replies.js',
  'chat.css',
  'chat.js',
  'chat-api.js',
  'chat-choices.js',
  'chat-log.js',
  'chat-outbox.js',
  'chat-storage.js',
  'chat-stream.js',
  'chat-words.js',
  'connection.js',
  'copying.js',
  'counts.js',
  'drafts.js',
  'event-parser.js',
  'forms.js',
  'live.js',
  'live-connection.js',
  'live-worker.js',
  'pay.css',
  'pay.js',
  'places.js',
  'presence.js',
  'progress.js',
  'sending.js',
  'shortcuts.js',
  'times.js',
  'writing.js',
] as const;

export type AssetName = StyleSheet | keyof typeof LIBRARY_FILES | (typeof OWN_FILES)[number];

interface Asset {
  readonly content: Buffer;
  readonly version: string;
}

const loaded = new Map<string, Asset>();

function load(name: AssetName): Asset {
  const known = loaded.get(name);
  if (known) return known;
  const content = contentOf(name);
  const version = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const asset = { content, version };
  loaded.set(name, asset);
  return asset;
}

function contentOf(name: AssetName): Buffer {
  if (isStyleSheet(name)) return withoutRoom(withoutRemarks(joinedStyles(name)));
  if (name in LIBRARY_FILES || !/\.(js|css)$/.test(name)) return readAsset(name);
  return withoutRemarks(withVersionedImports(readAsset(name)));
}

const readAsset = (name: string): Buffer =>
  readFileSync(
    name in LIBRARY_FILES ? LIBRARY_FILES[name as keyof typeof LIBRARY_FILES] : ownFile(name),
  );

const joinedStyles = (sheet: StyleSheet): Buffer =>
  Buffer.concat(STYLES[sheet].map((name) => readFileSync(ownFile(`styles/${name}.css`))));

/**
 * Comments that have their lines to themselves, and indentation, are for those who read the sources:
 * a third of what a page would load.
 */
const withoutRemarks = (content: Buffer): Buffer =>
  Buffer.from(
    content
      .toString()
      .replace(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '')
      .replace(/^\s*\/\/.*$/gm, '')
      .replace(/^\s+/gm, ''),
  );

const withoutRoom = (styles: Buffer): Buffer =>
  Buffer.from(
    styles
      .toString()
      .replace(/^([\w-]+): /gm, '$1:')
      .replaceAll(' {', '{')
      .replace(/([,;{}])\n/g, '$1')
      .replaceAll(';}', '}'),
  );

const OWN_IMPORT =
  /(?<=(?:^import |^} from |^import .* from |\bimport\()')\.\/([a-z-]+\.js)(?='\)?)/gm;

/** Modules import each other by versioned URLs, since browsers cache each file for a year. */
const withVersionedImports = (content: Buffer): Buffer =>
  Buffer.from(
    content.toString().replace(OWN_IMPORT, (_, name: string) => assetUrl(name as AssetName)),
  );

for (const name of [...Object.keys(STYLES), ...Object.keys(LIBRARY_FILES), ...OWN_FILES])
  load(name as AssetName);

/** The URL of an asset. It changes with the asset's content. */
export function assetUrl(name: AssetName): string {
  return `/assets/${name}?v=${load(name).version}`;
}

export function assetsRouter(): Router {
  const router = Router();
  router.get('/assets/:name', (request, response, next) => {
    const { name } = request.params;
    const asset = loaded.get(name);
    if (!asset) return next();
    response
      .set('Cache-Control', 'public, max-age=31536000, immutable')
      .type(extname(name))
      .send(asset.content);
  });
  return router;
}
