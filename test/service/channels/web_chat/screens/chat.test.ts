import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  CHAT_WORDS,
  type ChatWords,
} from '../../../../../service/src/channels/web_chat/chatWords.ts';
import { startTestService, type TestService } from '../../../../helpers/service.ts';

const directive = (headers: Headers, name: string) =>
  headers
    .get('content-security-policy')
    ?.split(';')
    .map((each) => each.trim())
    .find((each) => each.startsWith(`${name} `))
    ?.slice(name.length + 1);

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)> & \u202egnp.exe';

describe('the chat page', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ env: { BOOTSTRAP_WORKSPACE: HOSTILE } });
    await service.addWorkspace('Acme');
  });
  afterAll(() => service?.stop());

  const get = (path: string) => fetch(service.url + path, { redirect: 'manual' });

  it('lets scripts and styles come from the service alone, and nobody frame it', async () => {
    const { status, headers } = await get('/chat');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(directive(headers, 'default-src')).toBe("'none'");
    expect(directive(headers, 'script-src')).toBe("'self'");
    expect(directive(headers, 'style-src')).toBe("'self'");
    expect(directive(headers, 'frame-ancestors')).toBe("'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('has no inline script or style, and every asset that it loads exists', async () => {
    const page = await (await get('/chat?workspace=acme')).text();
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>/);
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
    const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
      ([, address]) => address!,
    );
    expect(assets.length).toBeGreaterThan(1);
    const loaded = new Set(assets);
    // The loop also reaches the addresses that it adds.
    for (const address of loaded) {
      const asset = await get(address);
      expect({ address, status: asset.status }).toEqual({ address, status: 200 });
      expect(asset.headers.get('cache-control')).toMatch(/immutable$/);
      for (const [, more] of (await asset.text()).matchAll(/^import .* from '(.+)';$/gm))
        loaded.add(more!);
    }
    expect(loaded.size).toBeGreaterThan(assets.length);
    for (const address of loaded)
      expect(address).toMatch(/^\/assets\/[a-z-]+\.(js|css|svg)\?v=[0-9a-f]{12}$/);
  });

  it('does not let the browser keep an asset under the address of another release', async () => {
    const asset = await get('/assets/chat.js?v=0123456789ab');
    expect(asset.headers.get('cache-control')).toBe('no-cache');
  });

  it('speaks the first of the browser’s languages that it knows, or the one in its address', async () => {
    const languageAndHeading = async (path: string, accepted: string) => {
      const headers = { 'accept-language': accepted };
      const answer = await fetch(service.url + path, { headers });
      expect(answer.headers.get('vary')).toContain('Accept-Language');
      const page = await answer.text();
      const [, language] = /<html lang="([a-z]+)">/.exec(page)!;
      return [language, /<(?:h2|h1)>([^<]+)</.exec(page)![1]];
    };
    const en = ['en', 'Who are we talking to?'];
    const es = ['es', '¿Con quién hablamos?'];
    const pt = ['pt', 'Com quem falamos?'];
    expect(await languageAndHeading('/chat', 'es-AR,es;q=0.9,en;q=0.8')).toEqual(es);
    expect(await languageAndHeading('/chat', 'fr,pt-BR;q=0.9,en;q=0.8')).toEqual(pt);
    expect(await languageAndHeading('/chat', 'fr')).toEqual(en);
    expect(await languageAndHeading('/chat', '*')).toEqual(en);
    expect(await languageAndHeading('/chat?lang=pt-BR', 'es')).toEqual(pt);
    expect(await languageAndHeading('/chat?lang=xx&lang=es', 'en')).toEqual(en);
    const none = ['es', 'No hay ningún chat aquí'];
    expect(await languageAndHeading('/chat?workspace=none', 'es')).toEqual(none);
  });

  it('has the words its scripts ask for in every language, with the same values to fill in', async () => {
    const folder = new URL('../../../../../service/src/platform/html/assets/', import.meta.url);
    const scripts = (await readdir(folder)).filter((name) => /^chat.*\.js$/.test(name));
    const sources = await Promise.all(
      scripts.map((name) => readFile(new URL(name, folder), 'utf8')),
    );
    const asked = sources
      .flatMap((source) => [...source.matchAll(/\bsay\(([^{)]+)/g)])
      .flatMap(([, names]) => [...names!.matchAll(/'(\w+)'/g)].map(([, name]) => name!));
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !(name in CHAT_WORDS.en))).toEqual([]);
    const values = (words: ChatWords) =>
      Object.entries(words).map(([name, text]) => [name, text.match(/\{\w+\}/g)]);
    for (const words of Object.values(CHAT_WORDS))
      expect(values(words)).toEqual(values(CHAT_WORDS.en));
  });

  it('says what is needed where scripts are off', async () => {
    expect(await (await get('/chat')).text()).toMatch(
      /<noscript>.*needs JavaScript.*<\/noscript>/s,
    );
  });

  it('shows the name of a workspace as text, whatever it is', async () => {
    const page = await (await get('/chat')).text();
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('<img src=x');
    expect(page).toContain('&quot;>&lt;script>alert(1)&lt;/script>');
  });

  it('shows the first workspace, or the one that is asked for', async () => {
    expect(await (await get('/chat?workspace=acme')).text()).toContain(
      '<h1 dir="auto" tabindex="-1">Acme</h1>',
    );
    expect(await (await get('/chat')).text()).not.toContain('Acme');
  });

  it.each([
    ['a name that nobody has', '?workspace=nobody'],
    ['an empty name', '?workspace='],
    ['two names', '?workspace=a&workspace=acme'],
    ['a hostile name', `?workspace=${encodeURIComponent(HOSTILE)}`],
    ['a very long name', `?workspace=${'x'.repeat(5000)}`],
  ])('is a page that says 404 for %s', async (_, query) => {
    const answer = await get(`/chat${query}`);
    expect(answer.status).toBe(404);
    expect(directive(answer.headers, 'frame-ancestors')).toBe("'none'");
    const page = await answer.text();
    expect(page).toContain('There is no chat here');
    expect(page).not.toContain('alert(1)');
  });

  it('answers 404 before the service is set up', async () => {
    const fresh = await startTestService({
      env: { BOOTSTRAP_API_KEY: undefined, BOOTSTRAP_WORKSPACE: undefined },
    });
    try {
      expect((await fetch(`${fresh.url}/chat`)).status).toBe(404);
    } finally {
      await fresh.stop();
    }
  });

  describe('with CHAT_FRAME_ORIGINS', () => {
    beforeAll(() =>
      service.restart({ CHAT_FRAME_ORIGINS: 'https://shop.example.com, http://localhost:8080' }),
    );
    afterAll(() => service.restart());

    it('may be framed by these origins and itself', async () => {
      for (const path of ['/chat', '/chat?workspace=nobody']) {
        const { headers } = await get(path);
        expect(directive(headers, 'frame-ancestors')).toBe(
          "'self' https://shop.example.com http://localhost:8080",
        );
        expect(headers.get('x-frame-options')).toBeNull();
      }
    });

    it.each([
      '/sign-in',
      '/conversations',
      '/team',
      '/account',
      '/setup',
      '/join',
      '/keys',
      '/api/docs',
      '/nothing',
      '/chat/more',
    ])('does not let them frame or read %s', async (path) => {
      const { headers } = await get(path);
      expect(["'none'", "'self'"]).toContain(directive(headers, 'frame-ancestors'));
      expect(['DENY', 'SAMEORIGIN']).toContain(headers.get('x-frame-options'));
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    });
  });

  it('serves the embed script, and nothing else, to other origins', async () => {
    const { status, headers } = await get('/chat/embed.js');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    const asset = /src="(\/assets\/chat\.js[^"]*)"/.exec(await (await get('/chat')).text())![1]!;
    for (const path of [asset, '/chat', '/sign-in']) {
      const other = await get(path);
      expect(other.headers.get('access-control-allow-origin')).toBeNull();
      expect(other.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });
});
