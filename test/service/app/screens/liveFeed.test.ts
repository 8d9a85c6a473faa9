import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import express from 'express';
import { LiveFeed } from '../../../../service/src/app/screens/liveFeed.ts';
import {
  liveStreamRouter,
  openTeamStreams,
} from '../../../../service/src/app/screens/liveStream.ts';
import type { Deps } from '../../../../service/src/platform/deps.ts';
import { LIVE_EVENTS } from '../../../../service/src/platform/html/liveSection.ts';

describe('what has changed since a position', () => {
  const topicsSince = (feed: LiveFeed, workspace: string, position: string) =>
    feed.since(workspace, position).map(({ topic }) => topic);

  it('is what changed after it in the workspace, each topic once, and what is told to everyone', () => {
    const feed = new LiveFeed();
    feed.note('a', ['conversations', 'thread:conv_1']);
    const { position } = feed;
    expect(topicsSince(feed, 'a', position)).toEqual([]);
    feed.note('a', ['tools']);
    feed.note('b', ['payments']);
    feed.note('a', ['thread:conv_1']);
    feed.note('*', ['keys']);
    feed.note('a', ['tools']);
    expect(topicsSince(feed, 'a', position)).toEqual(['thread:conv_1', 'keys', 'tools']);
    expect(
      feed
        .since('a', position)
        .map(({ at }) => feed.positionAt(at))
        .at(-1),
    ).toBe(feed.position);
  });

  it.each([
    ['another process’s', () => new LiveFeed().position],
    ['malformed', () => 'yesterday'],
    ['yet to come', (feed: LiveFeed) => feed.positionAt(99)],
  ])('is everything when the position is %s', (_what, position) => {
    const feed = new LiveFeed();
    expect(topicsSince(feed, 'a', position(feed))).toEqual([...LIVE_EVENTS]);
  });

  it('is everything when changes were missed or forgotten since', () => {
    const missed = new LiveFeed();
    const before = missed.position;
    missed.forget();
    expect(topicsSince(missed, 'a', before)).toEqual([...LIVE_EVENTS]);
    expect(topicsSince(missed, 'a', missed.position)).toEqual([]);

    const small = new LiveFeed(2);
    const first = small.position;
    small.note('a', ['thread:conv_1']);
    const second = small.position;
    small.note('a', ['thread:conv_2']);
    small.note('a', ['thread:conv_3']);
    expect(topicsSince(small, 'a', first)).toEqual([...LIVE_EVENTS]);
    expect(topicsSince(small, 'a', second)).toEqual(['thread:conv_2', 'thread:conv_3']);
  });
});

describe('the stream of a page', () => {
  it.each<[string, boolean]>([
    ['its reader is gone', false],
    ['the service has begun to stop', true],
  ])('ends at once if %s by the time it begins', async (_what, isStopping) => {
    const stopping = new AbortController();
    const streams = openTeamStreams();
    const reader = new AbortController();
    const began = Promise.withResolvers<null>();
    const app = express();
    app.use(async (_request, response, next) => {
      response.locals.signedIn = { workspace: { id: 'ws_1' }, member: { id: 'mbr_1' } };
      if (isStopping) stopping.abort();
      else {
        reader.abort();
        await once(response, 'close');
      }
      next();
      began.resolve(null);
    });
    app.use(liveStreamRouter({} as Deps, new LiveFeed(), streams, stopping.signal));
    const server = app.listen(0);
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const read = fetch(`http://127.0.0.1:${port}/live`, { signal: reader.signal });
      const text = read.then((answer) => answer.text()).catch(({ name }: Error) => name);
      await began.promise;
      expect(streams.count).toBe(0);
      expect(await text).toMatch(isStopping ? /^retry/ : 'AbortError');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('is not opened by HEAD, for which it would never end', async () => {
    const streams = openTeamStreams();
    const app = express();
    app.use((_request, response, next) => {
      response.locals.signedIn = { workspace: { id: 'ws_1' }, member: { id: 'mbr_1' } };
      next();
    });
    const { signal } = new AbortController();
    app.use(liveStreamRouter({} as Deps, new LiveFeed(), streams, signal));
    const server = app.listen(0);
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const { status } = await fetch(`http://127.0.0.1:${port}/live`, { method: 'HEAD' });
      expect([status, streams.count]).toEqual([404, 0]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
