// The page with workflows for n8n: test/n8n/proofs/examples/examples.ts proves that they work there.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exampleWorkflows } from '../../../../service/src/app/screens/exampleWorkflows.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

const folder = new URL('../../../../examples/workflows/', import.meta.url);

interface WorkflowFile {
  name: string;
  nodes: { name: string; type: string; parameters: { content?: string } }[];
  settings: unknown;
}

describe('the page of example workflows', () => {
  let service: TestService;
  let browser: Browserless;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    browser = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());

  it('shows every file of examples/workflows, with what it does and needs', async () => {
    expect(exampleWorkflows.map(({ name }) => `${name}.json`).sort()).toEqual(
      readdirSync(folder).sort(),
    );
    const { text } = await browser.get('/examples');
    for (const { title, does, needs } of exampleWorkflows)
      for (const part of [title, does, needs]) expect(text).toContain(part);
  });

  it.each(exampleWorkflows)('gives $name as it is in the repository', async ({ name }) => {
    const { status, html, headers } = await browser.get(`/examples/${name}.json`);
    expect([status, html]).toEqual([200, readFileSync(new URL(`${name}.json`, folder), 'utf8')]);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('content-disposition')).toBe(`attachment; filename=${name}.json`);
  });

  it.each(exampleWorkflows)('$name explains itself, and brings no credential', ({ json }) => {
    const { nodes, settings } = JSON.parse(json) as WorkflowFile;
    expect(settings).toEqual({ executionOrder: 'v1' });
    expect(json).not.toMatch(/"(credentials|webhookId)"/);
    const notes = nodes.filter(({ type }) => type === 'n8n-nodes-base.stickyNote');
    const names = nodes.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(notes.length).toBeGreaterThan(0);
    for (const { parameters } of notes) {
      expect(parameters.content).toContain('**What to change**');
      // A note names a node by its name on the canvas.
      for (const [, name] of parameters.content!.matchAll(/in \*([^*]+)\*/g))
        expect(names).toContain(name);
    }
  });

  it('has no other file', async () => {
    for (const path of ['/examples/nothing.json', '/examples/..%2f..%2fpackage.json'])
      expect(await browser.get(path)).toMatchObject({ status: 404 });
  });

  it.each(['/keys', '/tools', '/conversations'])('is linked from %s', async (path) => {
    expect((await browser.get(path)).html).toContain('href="/examples');
  });
});
