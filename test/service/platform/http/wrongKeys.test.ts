import { expect, it } from '@jest/globals';
import type { Request } from 'express';
import { WrongKeys } from '../../../../service/src/platform/http/server/wrongKeys.ts';

it('checks the address of a key again once the key has expired or was revoked', async () => {
  const spent: (number | undefined)[] = [];
  const wrongKeys = new WrongKeys({ spend: async (_address, points) => void spent.push(points) });
  const request = { ip: '192.0.2.1' } as Request;
  wrongKeys.noteValid('cs_live_key');
  await wrongKeys.checkAddress(request, 'cs_live_key');
  expect(spent).toEqual([]);
  await wrongKeys.countWrong(request, 'cs_live_key');
  await wrongKeys.checkAddress(request, 'cs_live_key');
  expect(spent).toEqual([undefined, 0]);
});
