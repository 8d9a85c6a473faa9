import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { followWorkspaces, LiveFeed } from '../../../../service/src/app/screens/liveFeed.ts';
import {
  liveStreamRouter,
  openTeamStreams,
} from '../../../../service/src/app/screens/liveStream.ts';
import { renameContact } from '../../../../service/src/conversations/contacts/renameContact.ts';
import type { Deps } from '../../../../service/src/platform/deps.ts';
import { LIVE_EVENTS } from '../../../../service/src/platform/html/liveSection.ts';
import type { ServiceStore } from '../../../../service/src/store/collections.ts';
import type { Workspace } from '../../../../service/src/team/index.ts';

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

describe('a contact whose name the team sets or removes', () => {
  it.each(['Clara', null])('changes the list of conversations (%s)', async (name) => {
    const contact = { id: 'ctc_1', workspaceId: 'a', name: 'Before', isNamedByTeam: true };
    const conversation = { id: 'conv_1', workspaceId: 'a', contactId: 'ctc_1' };
    const changes: unknown[] = [];
    const tx = {
      conversations: { get: async () => conversation, peek: async () => conversation },
      contacts: {
        get: async () => contact,
        peek: async () => contact,
        put: async (document: unknown) => {
          changes.push({ position: '1', collection: 'contacts', id: 'ctc_1', document });
        },
      },
    };
    const store = {
      transaction: (act: (tx: unknown) => unknown) => act(tx),
      changes: async function* () {
        yield* changes;
      },
    } as unknown as ServiceStore;
    await renameContact({ store }, { id: 'a' } as Workspace, 'conv_1', name);
    const feed = followWorkspaces(store, new AbortController().signal);
    const { position } = feed;
    await new Promise(setImmediate);
    expect(feed.since('a', position)).toMatchObject([{ topic: 'conversations' }]);
  });
});

describe('the stream of a page', () => {
  const streams = openTeamStreams();
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Serves the stream to a member who is signed in, behind `before`. @returns its address */
  const serve = async (before: RequestHandler, stopping: AbortSignal) => {
    const app = express();
    app.use((_request, response, next) => {
      response.locals.signedIn = { workspace: { id: 'ws_1' }, member: { id: 'mbr_1' } };
      next();
    });
    app.use(before, liveStreamRouter({} as Deps, new LiveFeed(), streams, stopping));
    server = app.listen(0);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/live`;
  };

  it.each<[string, boolean]>([
    ['its reader is gone', false],
    ['the service has begun to stop', true],
  ])('ends at once if %s by the time it begins', async (_what, isStopping) => {
    const stopping = new AbortController();
    const reader = new AbortController();
    const began = Promise.withResolvers<null>();
    const url = await serve(async (_request, response, next) => {
      if (isStopping) stopping.abort();
      else {
        reader.abort();
        await once(response, 'close');
      }
      next();
      began.resolve(null);
    }, stopping.signal);
    const read = fetch(url, { signal: reader.signal });
    const text = read.then((answer) => answer.text()).catch(({ name }: Error) => name);
    await began.promise;
    expect(streams.count).toBe(0);
    expect(await text).toMatch(isStopping ? /^retry/ : 'AbortError');
  });

  it('is not opened by HEAD, for which it would never end', async () => {
    const { signal } = new AbortController();
    const url = await serve((_request, _response, next) => next(), signal);
    const { status } = await fetch(url, { method: 'HEAD' });
    expect([status, streams.count]).toEqual([404, 0]);
  });
});
