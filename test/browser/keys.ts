// A keyboard that counts the keys that are pressed.
import type { Page } from 'playwright-core';

export interface Keys {
  /** Presses keys, one after the other. */
  press(...keys: string[]): Promise<void>;
  /** Types a text, whose keys do not count. */
  write(text: string): Promise<void>;
  /** Each key that was pressed; Ctrl+Enter is two. */
  readonly pressed: readonly string[];
  /** Returns what was pressed so far, and counts from zero again. */
  take(): readonly string[];
}

export function keysOf({ keyboard }: Page): Keys {
  let pressed: string[] = [];
  return {
    async press(...keys) {
      for (const key of keys) {
        pressed.push(...key.split('+'));
        await keyboard.press(key.replace('Ctrl', 'Control'));
      }
    },
    write: (text) => keyboard.type(text),
    get pressed() {
      return pressed;
    },
    take() {
      const taken = pressed;
      pressed = [];
      return taken;
    },
  };
}
