import { Gauge, type Registry } from 'prom-client';

/** A gauge without labels, read each time that /metrics is requested. */
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
}
