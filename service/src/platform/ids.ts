import { createHash, randomBytes } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';

/**
 * ulid needs 16 random numbers for each new millisecond. On its own, it asks the system 16 times.
 */
let random = Buffer.alloc(0);
let used = 0;
const fraction = () => {
  if (used === random.length) [random, used] = [randomBytes(1024), 0];
  return random[used++]! / 256;
};

const nextUlid = monotonicFactory(fraction);

type IdPrefix =
  | 'agent'
  | 'call'
  | 'canned'
  | 'chan'
  | 'conv'
  | 'ctc'
  | 'dlv'
  | 'evt'
  | 'inc'
  | 'key'
  | 'mbr'
  | 'msg'
  | 'note'
  | 'pac'
  | 'pay'
  | 'req'
  | 'out'
  | 'rvl'
  | 'step'
  | 'sub'
  | 'tool'
  | 'turn'
  | 'wait'
  | 'ws';

/** A new id, sortable by time of creation within this process: `evt_01JD…`. Holds no `.`. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${nextUlid()}`;

/**
 * An id made from a text, so that the same thing is stored once. It looks like every other id.
 * @param at the time that the id sorts by; null: before all others
 * @param thing the text that identifies the thing
 */
export const derivedId = (prefix: IdPrefix, at: Date | null, thing: string): string =>
  `${prefix}_${encodeTime(at?.getTime() ?? 0)}${base32(createHash('sha256').update(thing).digest().subarray(0, 10))}`;

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** @param bytes exactly ten, which make 16 characters */
const base32 = (bytes: Buffer): string => {
  const bits = BigInt(`0x${bytes.toString('hex')}`);
  return Array.from(
    { length: 16 },
    (_, place) => CROCKFORD[Number((bits >> BigInt(5 * place)) & 31n)],
  ).join('');
};
