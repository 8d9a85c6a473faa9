import { describe, expect, it } from '@jest/globals';
import { renderToString } from 'preact-render-to-string';
import { resultView } from '../../../service/src/inbox/toolCallView.ts';
import { html } from '../../../service/src/platform/html/html.ts';
import {
  beginAttempt,
  newToolCall,
  recordToolAttempt,
} from '../../../service/src/tools/calls/toolCall.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const NEW = newToolCall({ kind: 'Webhook' } as Parameters<typeof newToolCall>[0], NOW);
const textOf = (call: typeof NEW) =>
  renderToString(html`<div>${resultView(call)}</div>` as never)
    .replace(/<[^>]*>/g, ' ')
    .trim();

describe('the attempts of a tool call', () => {
  it('have no duration while the first one is in progress', () => {
    expect(textOf(beginAttempt(NEW))).toBe('1 attempt, in progress');
  });

  it('have that of the attempts before, while another one is in progress', () => {
    const failure = {
      type: 'failure',
      retry: 'later',
      httpStatus: 503,
      durationMs: 120,
      error: { type: 'http_status', message: 'It failed.' },
    } as const;
    const { call } = recordToolAttempt(beginAttempt(NEW), failure, [1000], NOW);
    expect(textOf(beginAttempt(call))).toMatch(/^2 attempts, in progress, status 503, 120 ms/);
  });
});
