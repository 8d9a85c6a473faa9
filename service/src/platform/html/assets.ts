import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { Router } from 'express';

const { resolve } = createRequire(import.meta.url);
const ASSETS = new URL('assets/', import.meta.url);

const HTMX = 'htmx.js';
/** The style sheets, and the files of assets/styles that each is made of, in order. */
const STYLES = {
  /** What every page of the team needs, and all that the pages of conversations need. */
  'app.css': [
    'tokens',
    'base',
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
  /** What the other sections need besides app.css. */
  'sections.css': ['toolPages', 'team', 'deliveries', 'overview'],
  /** The API reference. */
  'reference.css': ['tokens', 'base', 'reference'],
  /** The pages of customers. */
  'chat.css': ['customers', 'chat'],
  'pay.css': ['customers', 'pay'],
} as const;
type StyleSheet = keyof typeof STYLES;
const isStyleSheet = (name: string): name is StyleSheet => name in STYLES;
const OWN_FILES = readdirSync(ASSETS).filter((name) => /\.(js|svg)$/.test(name));

/** A style sheet, or a file of the folder of assets. */
export type AssetName = `${string}.${'css' | 'js' | 'svg'}`;

interface Asset {
  readonly content: Buffer;
  readonly version: string;
}

const loaded = new Map<string, Asset>();

function load(name: AssetName): Asset {
  const known = loaded.get(name);
  if (known) return known;
  const content = Buffer.from(contentOf(name));
  const version = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const asset = { content, version };
  loaded.set(name, asset);
  return asset;
}

function contentOf(name: AssetName): string {
  if (isStyleSheet(name)) return withoutSpaces(withoutComments(joinedStyles(name)));
  if (name === HTMX) return readFileSync(resolve('htmx.org/dist/htmx.min.js'), 'utf8');
  const content = readOwnFile(name);
  return name.endsWith('.js') ? withoutComments(withVersionedImports(content)) : content;
}

const readOwnFile = (name: string): string => readFileSync(new URL(name, ASSETS), 'utf8');

const joinedStyles = (sheet: StyleSheet): string =>
  STYLES[sheet].map((name) => readOwnFile(`styles/${name}.css`)).join('');

/**
 * Removes indentation and the comments that have lines of their own. They are a third of what a
 * page would otherwise load.
 */
const withoutComments = (content: string): string =>
  content
    .replace(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/^\s+/gm, '');

const withoutSpaces = (styles: string): string =>
  styles
    .replace(/^([\w-]+): /gm, '$1:')
    .replaceAll(', ', ',')
    .replaceAll(' > ', '>')
    .replaceAll(' {', '{')
    .replace(/([,;{}])\n/g, '$1')
    .replaceAll(';}', '}');

const OWN_IMPORT =
  /(?<=(?:^import |^} from |^import .* from |\bimport\()')\.\/([a-z-]+\.js)(?='\)?)/gm;

/** Modules import each other by versioned URLs, since browsers cache each file for a year. */
const withVersionedImports = (content: string): string =>
  content.replace(OWN_IMPORT, (_, name: string) => assetUrl(name as AssetName));

for (const name of [...Object.keys(STYLES), HTMX, ...OWN_FILES]) load(name as AssetName);

/** The URL of an asset. It changes with the asset's content. */
export function assetUrl(name: AssetName): string {
  return `/assets/${name}?v=${load(name).version}`;
}

export function assetsRouter(): Router {
  const router = Router();
  router.get('/assets/:name', ({ params, query }, response, next) => {
    const { name } = params;
    const asset = loaded.get(name);
    if (!asset) return next();
    // During an update, a page of one release may load an asset from a process of another release.
    const isSameVersion = query.v === asset.version;
    response
      .set('Cache-Control', isSameVersion ? 'public, max-age=31536000, immutable' : 'no-cache')
      .type(extname(name))
      .send(asset.content);
  });
  return router;
}
