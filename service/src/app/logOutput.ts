import { writeSync } from 'node:fs';

/** How often, and how long, a slow reader is waited for. */
const MAX_WAITS = 5;
const WAIT_MS = 10;

/**
 * Where log lines go. A full disk, or a reader that is gone or slow, must not end or delay the
 * service. Lines that cannot be written are dropped and counted; once writing works again, a line
 * gives their number.
 */
export class LogOutput {
  readonly #fd: number;
  #dropped = 0;
  #reason = '';
  /** Whether only part of a line was written. */
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
    let waitsLeft = this.#dropped > 0 ? 0 : MAX_WAITS;
    for (let done = 0; done < bytes.length; ) {
      try {
        done += writeSync(this.#fd, bytes, done);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || waitsLeft-- === 0) {
          this.#isTorn ||= done > 0;
          throw error;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      }
    }
  }
}
