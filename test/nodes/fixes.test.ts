import { describe, expect, it } from '@jest/globals';
import type * as errorsFile from '../../nodes/ConversationService/api/errors';
import { ERROR_CATALOGUE } from '../../service/src/platform/http/errorCatalogue.ts';
import { builtFile } from './helpers/builtFile.ts';

const { FIXES } = builtFile<typeof errorsFile>('api/errors');

describe('The fixes that the nodes show', () => {
  it('are one for each error of the service', () => {
    expect(Object.keys(FIXES).sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort());
  });

  it.each(Object.entries(FIXES))('%s: a sentence in the words of n8n', (_code, fix) => {
    expect(fix).toMatch(/^[A-Z].*\.$/);
    expect(fix).not.toMatch(/POST |GET \/|Idempotency-Key|take_over|`/);
  });

  it.each([
    'published_elsewhere',
    'subscription_limit_reached',
    'tool_exists',
    'tool_limit_reached',
  ])('%s, which publishing can meet: ends with publishing again', (code) => {
    expect(FIXES[code]).toMatch(/[Tt]hen publish again\.$/);
  });
});
