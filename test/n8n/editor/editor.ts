// n8n's editor in a browser, used and read as a person does, by what is visible.
import { selectors, type Browser, type Locator, type Page } from 'playwright-core';
import { waitFor } from '../../helpers/waitFor.ts';
import { openWindow, type BrowserWindow } from '../../browser/browser.ts';
import type { N8nServer, Workflow } from '../n8nServer.ts';

selectors.setTestIdAttribute('data-test-id');

/** What the node search shows of one node. */
export interface NodeActions {
  readonly triggers: readonly string[];
  readonly actions: readonly string[];
}

export interface Editor {
  readonly page: Page;
  /** The panel of the open node. */
  readonly node: Locator;
  /** The panel with the open node's input; before a run, with the fields it will have. */
  readonly input: Locator;
  /** The panel with the open node's output. */
  readonly output: Locator;
  newWorkflow(): Promise<void>;
  open(workflow: Workflow): Promise<void>;
  /** Searches for a node. @returns the names that the search finds */
  search(text: string): Promise<readonly string[]>;
  /** Chooses one of those names. @returns the triggers and actions that it offers */
  actionsOf(name: string): Promise<NodeActions>;
  /** Adds a node, or the named action or trigger of it, which opens its panel. */
  add(name: string, action?: string): Promise<void>;
  openNode(name: string): Promise<void>;
  closeNode(): Promise<void>;
  /** The yellow notices of the open node. */
  notices(): Promise<readonly string[]>;
  /** Creates the credential that the open node asks for. n8n tests it on saving. */
  connect(service: string, fields: Record<string, string>): Promise<void>;
  /** Presses the button of the open node that runs it. */
  executeStep(): Promise<void>;
  /** Presses "Publish", and again in the dialog that asks for a name. */
  publish(): Promise<void>;
  /** What n8n's next red toast says. */
  failure(): Promise<string>;
  /** Shows the output of the open node as a schema, with the first value of each field. */
  showSchema(): Promise<void>;
  /** Opens the list of a parameter of the open node and searches it. @returns its entries */
  listOf(parameter: string, text: string): Promise<readonly string[]>;
  /** Chooses the first entry of the list and opens it. @returns the address that is opened */
  linkOfFirst(parameter: string): Promise<string>;
  screenshot: BrowserWindow['screenshot'];
  close(): Promise<void>;
}

/** Opens n8n in a window of its own and signs its owner in. */
export async function openEditor(browser: Browser, n8n: N8nServer): Promise<Editor> {
  const window = await openWindow(browser);
  // n8n's own pages may log any error.
  window.allowErrors(/(?:)/);
  const { page } = window;
  // n8n's editor loads several hundred scripts: over 15 seconds on a machine that is busy.
  page.setDefaultNavigationTimeout(60_000);
  const byId = (id: string) => page.getByTestId(id);
  const node = byId('ndv');
  const creator = byId('node-creator');

  const canvas = byId('canvas-wrapper');
  const leaveUnsaved = page.getByRole('button', { name: 'Leave without saving' });
  /** Moves within n8n as its own links do, since to load all of it again costs seconds. */
  const goTo = (path: string) =>
    page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate', { state: null }));
    }, path);
  const openCanvas = async (path: string) => {
    // By way of the overview, so that the canvas is the next one's.
    await goTo('/home/workflows');
    await waitFor('the canvas to close', async () => {
      if (await leaveUnsaved.isVisible()) await leaveUnsaved.click();
      return await canvas.isHidden();
    });
    await goTo(path);
    await canvas.waitFor();
  };
  const search = async (text: string) => {
    await byId('canvas-plus-button').or(byId('node-creator-plus-button')).first().click();
    await byId('node-creator-search-bar').fill(text);
    await creator.getByText(new RegExp(text, 'i')).first().waitFor();
    return await byId('node-creator-item-name').allInnerTexts();
  };

  await signIn(page, n8n);
  return {
    page,
    node,
    input: byId('ndv-input-panel'),
    output: byId('output-panel'),
    newWorkflow: () => openCanvas('/workflow/new'),
    open: ({ id }) => openCanvas(`/workflow/${id}`),
    search,
    async actionsOf(name) {
      await creator.getByText(name, { exact: true }).first().click();
      return {
        triggers: await readCategory(creator, 'Triggers'),
        actions: await readCategory(creator, 'Actions'),
      };
    },
    async add(name, action) {
      await search(name);
      await creator.getByText(name, { exact: true }).first().click();
      if (action) await creator.getByText(action, { exact: true }).click();
      else await page.getByRole('button', { name: 'Add to workflow' }).click();
      await node.waitFor();
    },
    async openNode(name) {
      const named = page.locator(`[data-node-name=${JSON.stringify(name)}]`);
      await byId('canvas-node').and(named).dblclick();
      await node.waitFor();
    },
    async closeNode() {
      await byId('ndv-close-button').click();
      await node.waitFor({ state: 'hidden' });
    },
    notices: () => node.locator('.notice').allInnerTexts(),
    async connect(service, fields) {
      await node.getByRole('button', { name: `Connect to ${service}` }).click();
      const form = byId('editCredential-modal');
      for (const [name, value] of Object.entries(fields))
        await form.getByTestId(`parameter-input-${name}`).locator('input').fill(value);
      await form.getByTestId('credential-save-button').click();
      // The form stays open when the test of the credential fails.
      await form.waitFor({ state: 'hidden' });
    },
    executeStep: () => byId('node-execute-button').click(),
    async publish() {
      await byId('workflow-open-publish-modal-button').click();
      await byId('workflow-publish-button').click();
    },
    async failure() {
      const toast = page
        .locator('.el-notification')
        .filter({ has: page.locator('.el-notification--error') });
      // n8n tries to publish five times, with pauses, before it gives up.
      await toast.waitFor({ timeout: 60_000 });
      const text = await toast.innerText();
      await toast.locator('.el-notification__closeBtn').click();
      await toast.waitFor({ state: 'hidden' });
      return text;
    },
    showSchema: () => byId('output-panel').getByText('Schema', { exact: true }).click(),
    async listOf(parameter, text) {
      const locator = byId(`resource-locator-${parameter}`);
      await locator.getByTestId('rlc-input').click();
      await byId('rlc-search').fill(text);
      const entries = byId('rlc-item');
      await entries.filter({ hasText: text }).first().waitFor();
      return await entries.allInnerTexts();
    },
    async linkOfFirst(parameter) {
      await byId('rlc-item').first().click();
      const link = byId(`resource-locator-${parameter}`).getByTestId('rlc-open-resource-link');
      const navigation = window.context.waitForEvent('request', (request) =>
        request.isNavigationRequest(),
      );
      await link.click();
      return (await navigation).url();
    },
    async screenshot(name) {
      if (process.env.SCREENSHOTS === undefined) return;
      // n8n removes each toast by itself after a few seconds.
      await page.locator('.el-notification').first().waitFor({ state: 'hidden' });
      await window.screenshot(name);
    },
    close: window.close,
  };
}

async function signIn(page: Page, { url, owner }: N8nServer): Promise<void> {
  await page.goto(`${url}/signin`);
  await page.getByTestId('emailOrLdapLoginId').locator('input').fill(owner.email);
  await page.getByTestId('password').locator('input').fill(owner.password);
  await page.getByTestId('form-submit-button').click();
  await page.getByTestId('main-sidebar-settings').waitFor();
}

/** Opens "Triggers (12)" or "Actions (40)" and reads all of it. n8n draws long lists bit by bit. */
async function readCategory(creator: Locator, category: string): Promise<readonly string[]> {
  const header = creator
    .getByTestId('node-creator-category-item')
    .filter({ hasText: new RegExp(`^${category} \\(`) });
  if ((await header.count()) === 0) return [];
  const size = Number(/\((\d+)\)/.exec(await header.innerText())![1]);
  const items = header.locator('xpath=..').getByTestId('node-creator-item-name');
  return await waitFor(`${size} ${category}`, async () => {
    if ((await items.count()) === 0) await header.click();
    const names = await items.allInnerTexts();
    return names.length === size && names;
  });
}
