// The steps that a user takes, one after the other, with the seconds that each one took.

export interface Step {
  readonly title: string;
  readonly seconds: number;
}

export interface Steps {
  readonly taken: readonly Step[];
  /** Begins the next step, which ends the one before. */
  begin(title: string): void;
  end(): void;
  /** A line for each step, and the sum. */
  report(): string;
}

export function timeSteps(): Steps {
  const taken: Step[] = [];
  let current: { title: string; startedAt: number } | undefined;
  const end = () => {
    if (!current) return;
    const { title, startedAt } = current;
    taken.push({ title, seconds: (performance.now() - startedAt) / 1000 });
    current = undefined;
  };
  const line = (title: string, seconds: number) =>
    `${seconds.toFixed(1).padStart(6)} s  ${title}\n`;
  return {
    taken,
    begin(title) {
      end();
      current = { title, startedAt: performance.now() };
    },
    end,
    report() {
      const sum = taken.reduce((seconds, step) => seconds + step.seconds, 0);
      const lines = taken.map(({ title, seconds }, index) =>
        line(`${index + 1}. ${title}`, seconds),
      );
      return `${lines.join('')}${line(`${taken.length} steps`, sum)}`;
    },
  };
}
