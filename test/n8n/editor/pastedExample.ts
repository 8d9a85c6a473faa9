import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { signIn } from '../../browser/team.ts';
import type { Workflow } from '../n8nServer.ts';
import { example, type Stage } from '../stage.ts';
import type { Editor } from './editor.ts';

/** What the service's page of examples copies can be pasted on n8n's canvas. */
export function provesPastedExample(stage: () => Stage, editor: () => Editor): void {
  it('an example that is copied on the page of the service can be pasted on the canvas', async () => {
    const { page: canvas, newWorkflow } = editor();
    const file = JSON.parse(readFileSync(example('urgent-to-the-team.json'), 'utf8')) as Workflow;
    await canvas.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const examples = await canvas.context().newPage();
    await signIn(examples, stage().service.url, '/examples');
    await examples.getByRole('button', { name: `Copy the workflow “${file.name}”` }).click();
    await examples.getByText('Copied').waitFor();
    await examples.close();

    await newWorkflow();
    await canvas.bringToFront();
    await canvas.keyboard.press('Control+V');
    await canvas.getByText('Write the notice').first().waitFor();
    const shown = await canvas.getByTestId('canvas-wrapper').innerText();
    for (const { name, type } of file.nodes)
      if (!type.endsWith('.stickyNote')) expect(shown).toContain(name);
    expect(shown).toContain('A message sounds urgent:');
  });
}
