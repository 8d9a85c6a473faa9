// What the demo prints: numbered steps, and below each one what was checked.
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];
const paint = (style: Style, text: string) => styleText(style, text, { stream: process.stdout });
const print = (line = '') => process.stdout.write(`${line}\n`);

/** A check that does not hold ends the demo with exit code 1. */
class CheckFailure extends Error {}

let isStopped = false;
let steps = 0;
let checks = 0;

export const checksPassed = () => checks;

/** The next check ends the demo, as one that does not hold does. */
export const stopAtNextCheck = (): void => void (isStopped = true);

export const title = (text: string, explanation: string) => {
  print();
  print(paint('bold', text));
  print(paint('dim', explanation));
};

export const step = (text: string) => {
  steps += 1;
  print();
  print(`${paint('cyan', String(steps).padStart(2))}  ${paint('bold', text)}`);
};

/** Prints what goes on, and checks nothing. */
export const say = (text: string) => print(`    ${paint('dim', text)}`);

/** Prints what a person writes or reads. */
export const quote = (who: string, text: string) => print(`    ${paint('yellow', who)}  “${text}”`);

/** Prints whether something holds. @throws CheckFailure when it does not, or the demo was stopped */
export function check(what: string, holds: boolean, detail?: unknown): void {
  if (isStopped) throw new CheckFailure('stopped');
  print(`    ${holds ? paint('green', '✓') : paint('red', '✗')} ${what}`);
  if (!holds) {
    throw new CheckFailure(
      `${what}: ${detail === undefined ? 'it does not hold' : JSON.stringify(detail, null, 2)}`,
    );
  }
  checks += 1;
}

export const fields = (rows: readonly (readonly [string, string])[]) => {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) print(`    ${paint('dim', name.padEnd(width))}  ${value}`);
};

export const success = (text: string) => {
  print();
  print(paint('green', text));
};

export const failure = (text: string) => {
  print();
  print(paint('red', text));
};
