import { describe, expect, it } from '@jest/globals';
import { RecentTopics } from '../../../../service/src/app/screens/liveFeed.ts';
import { LIVE_EVENTS } from '../../../../service/src/platform/html/liveSection.ts';

describe('what has changed since a position', () => {
  const topicsSince = (recent: RecentTopics, workspace: string, position: string) =>
    recent.since(workspace, position).map(({ topic }) => topic);

  it('is what changed after it in the workspace, each topic once, and what is told to everyone', () => {
    const recent = new RecentTopics();
    recent.note('a', ['conversations', 'thread:conv_1']);
    const { position } = recent;
    expect(topicsSince(recent, 'a', position)).toEqual([]);
    recent.note('a', ['tools']);
    recent.note('b', ['payments']);
    recent.note('a', ['thread:conv_1']);
    recent.note('*', ['keys']);
    recent.note('a', ['tools']);
    expect(topicsSince(recent, 'a', position)).toEqual(['thread:conv_1', 'keys', 'tools']);
    expect(
      recent
        .since('a', position)
        .map(({ at }) => recent.positionAt(at))
        .at(-1),
    ).toBe(recent.position);
  });

  it.each([
    ['another process’s', () => new RecentTopics().position],
    ['no position', () => 'yesterday'],
    ['one that is yet to come', (recent: RecentTopics) => recent.positionAt(99)],
  ])('is everything when it is %s', (_what, position) => {
    const recent = new RecentTopics();
    expect(topicsSince(recent, 'a', position(recent))).toEqual([...LIVE_EVENTS]);
  });

  it('is everything when changes were missed or forgotten since', () => {
    const missed = new RecentTopics();
    const before = missed.position;
    missed.forget();
    expect(topicsSince(missed, 'a', before)).toEqual([...LIVE_EVENTS]);
    expect(topicsSince(missed, 'a', missed.position)).toEqual([]);

    const small = new RecentTopics(2);
    const first = small.position;
    small.note('a', ['thread:conv_1']);
    const second = small.position;
    small.note('a', ['thread:conv_2']);
    small.note('a', ['thread:conv_3']);
    expect(topicsSince(small, 'a', first)).toEqual([...LIVE_EVENTS]);
    expect(topicsSince(small, 'a', second)).toEqual(['thread:conv_2', 'thread:conv_3']);
  });
});
