import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { DeliveryMemory } from '../../nodes/ConversationService/shared/deliveryMemory';

const response = (statusCode = 200) => Object.assign(new EventEmitter(), { statusCode, destroyed: false });

describe('DeliveryMemory', () => {
  it('remembers a delivery once its response has ended with a 2xx, not before', () => {
    const memory = new DeliveryMemory();
    const res = response();
    expect(memory.stateOf('evt_1')).toBe('new');
    memory.follow('evt_1', res, 100);
    expect(memory.stateOf('evt_1')).toBe('in_flight');
    res.emit('finish');
    res.emit('close');
    expect(memory.stateOf('evt_1')).toBe('done');
    expect(memory.stateOf('evt_2')).toBe('new');
  });

  it('takes a delivery again whose response ended with an error', () => {
    const memory = new DeliveryMemory();
    const res = response();
    memory.follow('evt_1', res, 100);
    res.statusCode = 500;
    res.emit('finish');
    expect(memory.stateOf('evt_1')).toBe('new');
  });

  it('takes a delivery again whose caller hung up before the answer', () => {
    const memory = new DeliveryMemory();
    const res = response();
    memory.follow('evt_1', res, 100);
    res.emit('close');
    expect(memory.stateOf('evt_1')).toBe('new');
  });

  it('does not wait for the end of a response that has ended', () => {
    const memory = new DeliveryMemory();
    memory.follow('evt_1', Object.assign(response(), { destroyed: true }), 100);
    expect(memory.stateOf('evt_1')).toBe('new');
  });

  it('knows whether a delivery was signed later than the one that was taken', () => {
    const memory = new DeliveryMemory();
    const take = (signedAt: number) => {
      const res = response();
      memory.follow('evt_1', res, signedAt);
      res.emit('finish');
    };
    expect(memory.isSignedLater('evt_1', 100)).toBe(true);
    take(100);
    expect([99, 100, 101].map((t) => memory.isSignedLater('evt_1', t))).toEqual([false, false, true]);
    take(105);
    take(103); // an older one that came late does not open what lies between
    expect([104, 105, 106].map((t) => memory.isSignedLater('evt_1', t))).toEqual([false, false, true]);
  });

  it('forgets the oldest beyond its capacity, and keeps what came again', () => {
    const memory = new DeliveryMemory(3);
    const take = (key: string) => {
      const res = response();
      memory.follow(key, res, 100);
      res.emit('finish');
    };
    ['a', 'b', 'c', 'a', 'd'].forEach(take);
    expect(['a', 'b', 'c', 'd'].map((key) => memory.stateOf(key))).toEqual(['done', 'new', 'done', 'done']);
  });
});
