// Sign-ins with wrong passwords. Under ever new e-mails, 460,000 refused ones left 592 MB in the
// limiter's maps; under one member's e-mail, 105 from one address locked the member out everywhere.
import { attack, inParallel, send, stranger, type Target } from './attack.ts';

interface Args extends Target {
  readonly tries: number;
  readonly connections: number;
  /** Half of them come from one address, the others from so many. */
  readonly addresses: number;
  /** Whom they are for; a new e-mail each time when left out. */
  readonly email?: string;
}

const ONE = '203.0.113.66';

await attack<Args>(async ({ url, tries, connections, addresses, email }, run) => {
  let next = 0;
  run.begun();
  await inParallel(connections, run, async () => {
    const n = next++;
    if (n >= tries) return false;
    const { status } = await send(url, {
      path: '/sign-in',
      from: n % 2 === 0 ? ONE : stranger(n % addresses),
      form: { email: email ?? `nobody-${n}@example.com`, password: `wrong ${n}` },
    });
    run.tally(`sign-ins ${status}`);
    return true;
  });
});
