import { monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();

export type IdPrefix =
  | 'agent'
  | 'att'
  | 'conv'
  | 'ctc'
  | 'dlv'
  | 'evt'
  | 'key'
  | 'mbr'
  | 'msg'
  | 'req'
  | 'sub'
  | 'ws';

/** A new id, sortable by time of creation within this process: `evt_01JD…`. Holds no `.`. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${nextUlid()}`;
