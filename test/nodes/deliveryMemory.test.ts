import { describe, expect, it } from '@jest/globals';
import type * as deliveryMemoryFile from '../../nodes/ConversationService/trigger/deliveryMemory';
import { builtFile } from './helpers/builtFile.ts';

const { DeliveryMemory } = builtFile<typeof deliveryMemoryFile>('trigger/deliveryMemory');
type DeliveryMemory = deliveryMemoryFile.DeliveryMemory;
type DeliveryAttempt = deliveryMemoryFile.DeliveryAttempt;

const response = () => ({ statusCode: 200, end() {} });
const sent = (signedAt = 100): DeliveryAttempt => ({ signedAt, round: null, isManual: false });
const askedFor = (signedAt: number, round: number | null = null): DeliveryAttempt => ({
  signedAt,
  round,
  isManual: true,
});

/** A delivery is accepted: n8n ends its response with a 2xx. */
function accept(memory: DeliveryMemory, key: string, attempt = sent()) {
  const res = response();
  memory.follow(key, res, attempt);
  res.end();
}

describe('DeliveryMemory', () => {
  it('remembers a delivery once n8n has ended its response with a 2xx, not before', () => {
    const memory = new DeliveryMemory();
    const res = response();
    expect(memory.stateOf('evt_1', sent())).toBe('new');
    memory.follow('evt_1', res, sent());
    expect(memory.stateOf('evt_1', sent())).toBe('in_flight');
    res.end();
    expect(memory.stateOf('evt_1', sent())).toBe('done');
    expect(memory.stateOf('evt_2', sent())).toBe('new');
  });

  it('accepts a delivery again when its response ended with an error', () => {
    const memory = new DeliveryMemory();
    const res = response();
    memory.follow('evt_1', res, sent());
    res.statusCode = 500;
    res.end();
    expect(memory.stateOf('evt_1', sent())).toBe('new');
  });

  it('passes on what n8n ends the response with', () => {
    const written: unknown[] = [];
    const res = { statusCode: 200, end: (...args: unknown[]) => written.push(...args) };
    new DeliveryMemory().follow('evt_1', res, sent());
    expect(res.end('{}', 'utf8')).toBe(2);
    expect(written).toEqual(['{}', 'utf8']);
  });

  it('accepts a delivery again that was in flight for more than an hour', () => {
    let nowMs = 0;
    const memory = new DeliveryMemory(10, () => nowMs);
    const [first, second] = [response(), response()];
    const state = () => memory.stateOf('evt_1', sent());
    memory.follow('evt_1', first, sent());
    nowMs = 3_600_000;
    expect(state()).toBe('in_flight');
    nowMs += 1;
    expect(state()).toBe('new');
    memory.follow('evt_1', second, sent());
    first.statusCode = 500;
    first.end(); // of the one that was forgotten: the later one is still in flight
    expect(state()).toBe('in_flight');
    second.end();
    expect(state()).toBe('done');
  });

  describe('when an attempt says that somebody asked for it', () => {
    const taken = (...attempts: DeliveryAttempt[]) => {
      const memory = new DeliveryMemory();
      for (const attempt of attempts) accept(memory, 'evt_1', attempt);
      return (attempt: DeliveryAttempt) => memory.stateOf('evt_1', attempt);
    };

    it('believes it only if it was signed later than every accepted attempt', () => {
      expect(taken()(askedFor(100))).toBe('new');
      const once = taken(sent(100));
      expect([99, 100, 101].map((t) => once(askedFor(t)))).toEqual(['done', 'done', 'new']);
      // An older attempt that came late does not lower that bar.
      const twice = taken(sent(105), sent(103));
      expect([104, 105, 106].map((t) => twice(askedFor(t)))).toEqual(['done', 'done', 'new']);
    });

    it('accepts each round once, and only if it was signed later', () => {
      const state = taken(sent(100), askedFor(105, 1));
      const attempts = [askedFor(110, 1), askedFor(110, 0), askedFor(104, 2), askedFor(110, 2)];
      expect(attempts.map(state)).toEqual(['done', 'done', 'done', 'new']);
    });

    it('holds back the retries of a round in flight, and accepts the next round', () => {
      const memory = new DeliveryMemory();
      const [first, second] = [response(), response()];
      memory.follow('evt_1', first, askedFor(105, 1));
      const state = (attempt: DeliveryAttempt) => memory.stateOf('evt_1', attempt);
      const attempts = [askedFor(110, 1), sent(110), askedFor(105, 2), askedFor(110, 2)];
      expect(attempts.map(state)).toEqual(['in_flight', 'in_flight', 'in_flight', 'new']);
      memory.follow('evt_1', second, askedFor(110, 2));
      first.statusCode = 500;
      first.end(); // of the earlier round: the later one is still in flight
      expect(state(askedFor(111, 2))).toBe('in_flight');
      second.end();
      expect(state(askedFor(111, 2))).toBe('done');
    });
  });

  it('forgets the oldest beyond its capacity, and keeps what came again', () => {
    const memory = new DeliveryMemory(3);
    for (const key of ['a', 'b', 'c', 'a', 'd']) accept(memory, key);
    expect(['a', 'b', 'c', 'd'].map((key) => memory.stateOf(key, sent()))).toEqual([
      'done',
      'new',
      'done',
      'done',
    ]);
  });
});
