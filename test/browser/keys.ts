// Somebody's keyboard, which counts.
import type { Page } from 'playwright-core';

export interface Keys {
  /** Presses keys, one after the other. */
  press(...keys: string[]): Promise<void>;
  /** Writes a text, which does not count. */
  write(text: string): Promise<void>;
  /** Each key that was pressed; Ctrl+Enter is two. */
  readonly pressed: readonly string[];
  /** Forgets what was pressed so far, and returns it. */
  take(): readonly string[];
}

export function keysOf({ keyboard }: Page): Keys {
  let pressed: string[] = [];
  return {
    async press(...keys) {
      for (const key of keys) {
        pressed.push(...key.split('+'));
        await keyboard.press(key === 'Ctrl+Enter' ? 'Control+Enter' : key);
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
