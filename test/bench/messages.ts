// Writes through the API, beside a bare Express route that answers the same, without and with the
// security headers.
import { startHelper, startService } from './children.ts';
import { comparison, figuresOf, ratiosOf, scaled, type Effort, type Run } from './comparison.ts';
import { call, waitUntilRecorded, subscribe } from './customers.ts';
import type { PartResult } from './report.ts';
import { startSink, type Tls } from './sinkClient.ts';
import {
  chatMessages,
  runLoad,
  startBareExpress,
  startWriters,
  teamMessages,
  type Write,
} from './writes.ts';

const CONNECTIONS = 32;
const CALLS = 5000;
/** The bare route is faster and is called more, so that its runs are not too short to measure. */
const BARE_CALLS = 16_000;
/** The path of the bare routes that send the security headers, by helmet. */
const SAFE = '/safe';

export async function measureMessages(
  tls: Tls,
  effort: Effort,
  profiles?: string,
): Promise<PartResult> {
  const sink = await startSink(tls);
  await sink.ask({ do: 'begin', status: 200 });
  const loop = startHelper('loop.ts');
  const service = await startService(tls.caFile, profiles);
  const writers = await startWriters(service);
  const calls = scaled(CALLS, effort);
  const bareCalls = scaled(BARE_CALLS, effort);

  const ours = (write: Write) => runLoad([loop], write, [service], CONNECTIONS, calls);
  const profiled = async (what: string, run: () => Promise<Run>): Promise<Run> => {
    await service.beginProfile();
    const measured = await run();
    await service.endProfile(what, calls);
    return measured;
  };
  /** With a subscription: the deliveries go out at the same time, on the same cores. */
  const oursSubscribed = async (): Promise<Run> => {
    const hook = await subscribe(service, 'message.sent', `${sink.origin}/hooks/0`);
    const run = await ours(teamMessages(writers));
    await waitUntilRecorded(service, [hook]);
    await call(service, 'DELETE', `/api/hooks/${hook}?pending=cancel`);
    return run;
  };

  // Warm-up; and the answers that the bare routes give.
  const { answer: teamAnswer } = await ours(teamMessages(writers));
  const { answer: chatAnswer } = await ours(chatMessages(writers));
  await oursSubscribed();
  const express = await startBareExpress(teamAnswer, chatAnswer);
  const bare = (write: Write, prefix = '') => {
    const paths = write.paths.map((path) => `${prefix}${path}`);
    return runLoad([loop], { ...write, paths }, [express], CONNECTIONS, bareCalls);
  };

  const compared = (name: string, profile: string, write: Write) => ({
    write,
    run: () => profiled(profile, () => ours(write)),
    plain: comparison(name, 'bare Express'),
    safe: comparison(name, 'Express with helmet and JSON parsing', { byCpu: { atLeast: 0.55 } }),
  });
  const requests = [
    compared('POST /api/conversations/{id}/messages', 'an API reply', teamMessages(writers)),
    compared('POST /api/chat/messages', 'a chat message', chatMessages(writers)),
  ];
  for (const { write } of requests) for (const prefix of ['', SAFE]) await bare(write, prefix); // warm-up
  const subscribed = comparison(
    'POST /api/conversations/{id}/messages with a subscription',
    'bare Express',
  );
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const { write, run, plain, safe } of requests) {
      plain.theirs.push(await bare(write));
      const measured = await run();
      plain.ours.push(measured);
      safe.ours.push(measured);
      safe.theirs.push(await bare(write, SAFE));
    }
    subscribed.theirs.push(await bare(teamMessages(writers)));
    subscribed.ours.push(await profiled('an API reply with a delivery', oursSubscribed));
  }
  for (const running of [service, sink, loop, express]) await running.stop();
  const all = [...requests.flatMap(({ plain, safe }) => [plain, safe]), subscribed];
  return {
    ratios: all.flatMap(ratiosOf),
    figures: all.flatMap(figuresOf),
    settings: [
      `API writes: ${calls} a run (bare ${bareCalls}), ${effort.rounds} rounds after a warm-up, over ${CONNECTIONS} connections to ${writers.conversations.length} conversations; the same undici loop calls both servers. ` +
        `Answers of ${Buffer.byteLength(teamAnswer)} and ${Buffer.byteLength(chatAnswer)} bytes. ` +
        'Ours checks the key, the rate limit and the body, masks contact details, and answers once the message is durable; the bare route parses the body and answers the same bytes; with helmet, it sends the same security headers. ' +
        'With a subscription, the signed deliveries of the messages go out at the same time on the same cores.',
    ],
  };
}
