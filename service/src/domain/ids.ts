import { randomBytes } from 'node:crypto';
import { monotonicFactory } from 'ulid';

/** ulid asks for 16 random fractions a new millisecond, and by itself gets each from the system alone. */
let random = Buffer.alloc(0);
let used = 0;
const fraction = () => {
  if (used === random.length) [random, used] = [randomBytes(1024), 0];
  return random[used++]! / 256;
};

const nextUlid = monotonicFactory(fraction);

export type IdPrefix =
  | 'agent'
  | 'call'
  | 'chan'
  | 'conv'
  | 'ctc'
  | 'dlv'
  | 'evt'
  | 'key'
  | 'mbr'
  | 'msg'
  | 'note'
  | 'pac'
  | 'pay'
  | 'req'
  | 'snd'
  | 'step'
  | 'sub'
  | 'tool'
  | 'ws';

/** A new id, sortable by time of creation within this process: `evt_01JD…`. Holds no `.`. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${nextUlid()}`;
