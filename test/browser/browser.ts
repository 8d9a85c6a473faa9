// Windows of a real browser that notice every error a page makes.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Frame,
  type Page,
} from 'playwright-core';
import { smallPng } from './smallPng.ts';

const { resolve } = createRequire(import.meta.url);
const axeSource = readFileSync(resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Chromium's headless shell is its engine alone. A page in a new window costs it a third of what it
 * costs the full program, which is the fallback.
 */
const EXECUTABLE =
  process.env.CHROMIUM ??
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
/** A name of this machine other than localhost. Over http, a page there has no clipboard. */
export const LAN_NAME = 'conversations.test';

const ARGUMENTS = [
  `--host-resolver-rules=MAP ${LAN_NAME} 127.0.0.1`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** @throws Error that says how to get Chromium when there is none */
export async function launchBrowser(): Promise<Browser> {
  if (EXECUTABLE === undefined || !existsSync(EXECUTABLE))
    throw new Error(
      `There is no ${EXECUTABLE ?? 'Chromium'}: apt-get install -y chromium-headless-shell, or name another one in CHROMIUM.`,
    );
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}

/** How long an action of Playwright waits for its element before it fails. */
const WAIT_MS = 15_000;

export interface WindowOptions {
  /** Default 1440 × 900. */
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Any other option of a Playwright context. */
  readonly context?: BrowserContextOptions;
}

/** One person's browser: its own cookies and storage, one page. */
export interface BrowserWindow {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Problems that match are expected; `close` throws for any other. */
  allowErrors(pattern: RegExp): void;
  /**
   * What the page did wrong so far and the test did not allow: errors on the console (refusals of
   * the content policy are among them) and exceptions.
   */
  readonly problems: readonly string[];
  /** axe-core's findings in the page and its frames; empty when all is well. */
  axe(): Promise<readonly string[]>;
  /** The findings of all of axe's rules, and what it cannot decide and `EXPLAINED` leaves open. */
  axeWithAllRules(): Promise<readonly string[]>;
  /** The same with the rules about colours alone, for when only the colours have changed. */
  axeOfColours(): Promise<readonly string[]>;
  /** `axe` in light mode, and `axeOfColours` in dark mode, which differs in nothing else. */
  axeLightAndDark(): Promise<readonly string[]>;
  /** Controls that lie beyond the left or right edge of the window. */
  outOfReach(): Promise<readonly string[]>;
  /**
   * What reaches beyond the right edge, so that the page scrolls sideways; empty when nothing does.
   */
  overflow(): Promise<readonly string[]>;
  /** Writes `<SCREENSHOTS>/<name>.png`; does nothing where the variable is not set. */
  screenshot(name: string): Promise<void>;
  /** @throws Error when the page did something wrong */
  close(): Promise<void>;
}

export async function openWindow(
  browser: Browser,
  { width = 1440, height = 900, dark = false, context: more = {} }: WindowOptions = {},
): Promise<BrowserWindow> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    locale: 'en-GB',
    ...more,
  });
  contexts.add(context);
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const allowed: RegExp[] = [];
  const seen: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error') seen.push(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => seen.push(String(error.error())));
  const problems = () =>
    seen.filter((problem) => !allowed.some((pattern) => pattern.test(problem)));
  return {
    page,
    context,
    allowErrors: (pattern) => void allowed.push(pattern),
    get problems() {
      return problems();
    },
    axe: () => axeFindings(page),
    axeWithAllRules: () => axeFindings(page, ALL_RULES),
    axeOfColours: () => axeFindings(page, RULES_OF_COLOURS),
    async axeLightAndDark() {
      const found = await axeFindings(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      const foundInTheDark = await axeFindings(page, RULES_OF_COLOURS);
      await page.emulateMedia({ colorScheme: 'light' });
      return [...found, ...foundInTheDark];
    },
    outOfReach: () => page.evaluate(controlsBeyondTheEdge),
    screenshot: (name) => screenshot(page, name),
    overflow: () => page.evaluate(beyondTheEdge),
    async close() {
      contexts.delete(context);
      await context.close();
      if (problems().length > 0)
        throw new Error(`The page did something wrong:\n${problems().join('\n')}`);
    },
  };
}

const contexts = new Set<BrowserContext>();

/**
 * Called by environment.mjs. Saves a picture of every open page in a temporary folder, and prints
 * its words and what has the focus, for when the folder is gone.
 */
async function keepPictures(name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'browser-test-'));
  const pages = [...contexts].flatMap((context) => context.pages());
  for (const [number, page] of pages.entries()) {
    const path = join(folder, `${number + 1}.png`);
    // No picture can be taken of a page that is gone or hangs.
    const isSaved = await page.screenshot({ path, timeout: 5000 }).then(
      () => true,
      () => false,
    );
    if (!isSaved) continue;
    const { words, focus } = await page.evaluate(whatIsSeen);
    process.stderr.write(
      `“${name}” failed at ${page.url()}: ${path}\nThe focus is on ${focus}\n${words}\n`,
    );
  }
}

const whatIsSeen = () => ({
  words: document.body.innerText.replace(/\s+/g, ' ').slice(-2000),
  focus: document.activeElement?.outerHTML.slice(0, 200),
});
Object.assign(globalThis, { keepPictures });

function beyondTheEdge(): readonly string[] {
  const edge = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= edge) return [];
  const tooWide = [...document.body.querySelectorAll('*')].filter(
    (element) => element.getBoundingClientRect().right > edge + 0.5,
  );
  return [
    `${document.documentElement.scrollWidth} px instead of ${edge}`,
    ...tooWide.slice(-5).map((element) => element.outerHTML.slice(0, 200)),
  ];
}

function controlsBeyondTheEdge(): readonly string[] {
  const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  return [...document.querySelectorAll(controls)]
    .filter((each) => !each.matches('.skip, .enter') && each.checkVisibility())
    .filter((each) => {
      const { width, left, right } = each.getBoundingClientRect();
      return width > 0 && (left < -0.5 || right > innerWidth + 0.5);
    })
    .map(({ outerHTML }) => `out of reach: ${outerHTML.slice(0, 200)}`);
}

async function axeFindings(page: Page, strictOptions?: string): Promise<readonly string[]> {
  const found = await Promise.all(
    page.frames().map((frame) => axeFindingsIn(frame, strictOptions)),
  );
  return found.flat();
}

/** Rules of axe that are off, and why. Those that axe itself calls deprecated are off too. */
const RULES_OFF = {
  'color-contrast-enhanced': 'AAA asks for 7:1; these screens promise AA, which is 4.5:1',
  'focus-order-semantics': 'a part that scrolls has to take the focus, and is a named group',
  'hidden-content': 'finds nothing; it only asks to open what is folded, which the states do',
};

/** What axe cannot decide, by rule and reason, and why it is right here. */
const EXPLAINED = {
  'color-contrast shortTextContent':
    'digits and signs, in colours that media.test.ts checks as tokens',
  'color-contrast imgNode': 'texts of charts, in colours that media.test.ts checks as tokens',
  'color-contrast elmPartiallyObscured': 'cut at the edge of a part that scrolls',
  'color-contrast bgOverlap': 'marks, in colours that media.test.ts checks as tokens',
  'color-contrast nonBmp': 'arrows and other signs, in the colour of the text beside them',
  'identical-links-same-purpose identical-links-same-purpose':
    'in a list, each item has a link of the same words; the item says which it is (2.4.4)',
};

/** Puts everything that moves or fades into its final state. */
const finishAnimations = (frame: Frame): Promise<void> =>
  frame.evaluate(() => {
    const isEndless = (animation: Animation) =>
      animation.effect?.getComputedTiming().endTime === Infinity;
    for (const animation of document.getAnimations()) if (!isEndless(animation)) animation.finish();
  });

interface AxeCheck {
  id: string;
  data: { messageKey?: string } | null;
}
interface AxeRule {
  id: string;
  help: string;
  nodes: readonly {
    html: string;
    failureSummary?: string;
    any: AxeCheck[];
    all: AxeCheck[];
    none: AxeCheck[];
  }[];
}
interface AxeResult {
  readonly violations: readonly AxeRule[];
  readonly incomplete: readonly AxeRule[];
}

const ALL_RULES = `rules: Object.fromEntries(axe.getRules()
  .filter(({ tags }) => !tags.includes('deprecated'))
  .map(({ ruleId }) => [ruleId, { enabled: !${JSON.stringify(Object.keys(RULES_OFF))}.includes(ruleId) }]))`;

const RULES_OF_COLOURS = `runOnly: ['color-contrast', 'link-in-text-block']`;

/** @param strictOptions axe's options, as text; with them, what axe cannot decide counts too */
async function axeFindingsIn(frame: Frame, strictOptions?: string): Promise<readonly string[]> {
  await finishAnimations(frame);
  // Evaluated as text: the pages' content policy refuses a script element.
  if (!(await frame.evaluate('"axe" in globalThis'))) await frame.evaluate(axeSource);
  const { violations, incomplete } = (await frame.evaluate(
    `axe.run(document, { resultTypes: ["violations", "incomplete"], iframes: false, ${strictOptions ?? ''} })`,
  )) as AxeResult;
  return [...violations, ...(strictOptions ? unexplained(incomplete) : [])].flatMap(
    ({ id, help, nodes }) =>
      nodes.map(
        ({ html, failureSummary }) =>
          `${id}: ${help}: ${html.slice(0, 300)} ${failureSummary ?? ''}`,
      ),
  );
}

const unexplained = (rules: readonly AxeRule[]): readonly AxeRule[] =>
  rules.map((rule) => ({
    ...rule,
    nodes: rule.nodes.filter(({ any, all, none }) =>
      [...any, ...all, ...none].some(
        ({ id, data }) => !(`${rule.id} ${data?.messageKey ?? id}` in EXPLAINED),
      ),
    ),
  }));

async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  for (const frame of page.frames()) await finishAnimations(frame);
  // Playwright would hide the caret by a style that the pages' content policy refuses.
  const picture = await page.screenshot({ animations: 'allow', caret: 'initial' });
  await writeFile(join(folder, `${name}.png`), smallPng(picture));
}

/** From the next page on, the browser stores nothing. The headless shell has no setting for this. */
export const blockStorage = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() =>
    Object.defineProperty(globalThis, 'localStorage', {
      get() {
        throw new DOMException('Access is denied for this document.', 'SecurityError');
      },
    }),
  );
