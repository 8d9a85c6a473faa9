import { writeSync } from 'node:fs';

/** How often a reader that is behind is given a moment, and how long. */
const MOMENTS = 5;
const MOMENT_MS = 10;

/**
 * Where log lines go. A disk that is full, a reader that is gone or does not read must not end the
 * service or hold it up: lines that cannot be written are dropped and counted, and when writing
 * works again a line says how many they were.
 */
export class LogOutput {
  readonly #fd: number;
  #dropped = 0;
  #reason = '';
  /** A part of a line got through. */
  #isTorn = false;

  /** @param fd an open file descriptor; 1 is standard output */
  constructor(fd = 1) {
    this.#fd = fd;
  }

  /** Never throws. */
  write(line: string): void {
    try {
      if (this.#dropped > 0) this.#report();
      this.#writeAll(line);
    } catch (error) {
      this.#dropped += 1;
      this.#reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
    }
  }

  #report(): void {
    const note = {
      level: 40,
      time: Date.now(),
      dropped: this.#dropped,
      reason: this.#reason,
      msg: 'log lines could not be written and are lost',
    };
    this.#writeAll(`${this.#isTorn ? '\n' : ''}${JSON.stringify(note)}\n`);
    this.#dropped = 0;
    this.#isTorn = false;
  }

  #writeAll(text: string): void {
    const bytes = Buffer.from(text);
    let moments = this.#dropped > 0 ? 0 : MOMENTS;
    for (let done = 0; done < bytes.length; ) {
      try {
        done += writeSync(this.#fd, bytes, done);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || moments-- === 0) {
          this.#isTorn ||= done > 0;
          throw error;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MOMENT_MS);
      }
    }
  }
}
