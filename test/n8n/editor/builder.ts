// Builds a workflow on n8n's canvas as a person does, by clicking, typing and dragging.
import type { Locator, Response } from 'playwright-core';
import type { Editor } from './editor.ts';

export interface Builder {
  /**
   * Adds a node after another one with the "+" at its output, which opens the new node's panel.
   * @param action which one to choose, when the node has several
   * @param output the index of the other node's output
   */
  addAfter(previous: string, name: string, action?: string, output?: number): Promise<void>;
  /** Makes a change, and waits until n8n has saved a workflow that contains this text. */
  save(text: string, change: () => Promise<void>): Promise<void>;
  /** Types into a field of the open node, and waits until n8n has saved it. */
  fill(parameter: string, text: string): Promise<void>;
  /** The same after a click on "Expression" above the field. */
  fillExpression(parameter: string, text: string): Promise<void>;
  /** Chooses from a list of the open node. */
  choose(parameter: string, option: string): Promise<void>;
  /** Drags a field of the input into a field of the open node. */
  drag(field: string, onto: Locator): Promise<void>;
}

export function builder(editor: Editor): Builder {
  const { page, node, input } = editor;
  const byId = (id: string) => page.getByTestId(id);
  const creator = byId('node-creator');
  const field = (parameter: string) => node.getByTestId(`parameter-input-${parameter}`);
  // n8n saves a change a second later, and not at all if the panel is closed by then. It publishes
  // what it has saved.
  const save: Builder['save'] = async (text, change) => {
    const isSaved = (answer: Response) =>
      answer.ok() &&
      new URL(answer.url()).pathname.startsWith('/rest/workflows') &&
      answer.request().postData()?.includes(text) === true;
    await Promise.all([page.waitForResponse(isSaved), change()]);
  };
  return {
    async addAfter(previous, name, action, output = 0) {
      // A node outside the window cannot be clicked.
      await byId('zoom-to-fit').click();
      const atOutput = page.locator(
        `[data-node-name=${JSON.stringify(previous)}][data-index="${output}"]`,
      );
      const handle = byId('canvas-node-output-handle').and(atOutput);
      await handle.getByTestId('canvas-handle-plus').click();
      await byId('node-creator-search-bar').fill(name);
      await creator.getByText(name, { exact: true }).first().click();
      if (action) await creator.getByText(action, { exact: true }).click();
      await node.waitFor();
    },
    save,
    fill: (parameter, text) =>
      save(text, () => field(parameter).locator('input, textarea').fill(text)),
    async fillExpression(parameter, text) {
      await field(parameter).hover();
      const toggle = '@data-test-id="radio-button-expression"';
      const withToggle = field(parameter).locator(`xpath=ancestor::*[.//*[${toggle}]][1]`);
      await withToggle.getByTestId('radio-button-expression').click();
      await save(text, () => field(parameter).locator('.cm-content').fill(text));
    },
    async choose(parameter, option) {
      await field(parameter).click();
      await page.getByRole('option', { name: option }).click();
    },
    async drag(name, onto) {
      const pill = input.locator(`[data-target="mappable"][data-name=${JSON.stringify(name)}]`);
      await pill.first().hover();
      await page.mouse.down();
      const { x, y, width, height } = (await onto.boundingBox())!;
      await page.mouse.move(x + width / 2, y + height / 2, { steps: 10 });
      await page.mouse.up();
      await onto.getByText('{{ $json.').waitFor();
    },
  };
}
