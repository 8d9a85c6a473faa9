import { describe, expect, it } from '@jest/globals';
import type * as baseUrlFile from '../../nodes/ConversationService/api/baseUrl';
import { builtFile } from './helpers/builtFile.ts';

const { checkBaseUrl, isLocalHost } = builtFile<typeof baseUrlFile>('api/baseUrl');

describe('checkBaseUrl', () => {
  it.each([
    ['https://conversations.example.com', 'https://conversations.example.com'],
    [' https://conversations.example.com/ ', 'https://conversations.example.com'],
    ['https://example.com/conversations//', 'https://example.com/conversations'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['HTTP://LOCALHOST:3000/', 'http://localhost:3000'],
  ])('accepts %s', (given, baseUrl) => {
    expect(checkBaseUrl(given)).toEqual({ baseUrl });
  });

  it.each([
    ['', /empty/],
    [undefined, /empty/],
    ['localhost:3000', /not a web address/],
    ['conversations.example.com', /not a web address/],
    ['ftp://example.com', /not a web address/],
    ['https://user:pass@example.com', /more than an address/],
    ['https://example.com?key=1', /more than an address/],
    ['https://example.com#x', /more than an address/],
    ['https://example.com/?', /more than an address/],
    ['https://example.com#', /more than an address/],
    ['http://conversations.example.com', /must begin with https/],
    ['http://192.168.0.10:3000', /must begin with https/],
    ['http://127.0.0.1.example.com', /must begin with https/],
  ])('refuses %s and says what to enter', (given, problem) => {
    const checked = checkBaseUrl(given);
    expect(checked).toEqual({
      problem: expect.stringMatching(problem),
      fix: expect.stringMatching(/./),
    });
  });
});

describe('isLocalHost', () => {
  const hostOf = (url: string) => new URL(url).hostname;

  it.each([
    'http://localhost',
    'http://LOCALHOST.',
    'http://app.localhost',
    'http://127.0.0.1',
    'http://127.8.9.10',
    'http://127.1',
    'http://0x7f.1',
    'http://2130706433',
    'http://[::1]',
    'http://[0:0:0:0:0:0:0:1]',
    'http://raspberry.local',
    'http://host.docker.internal',
    'http://host.containers.internal',
    'http://conversation-service:3000',
    'http://conversation_service:3000',
  ])('takes %s as local', (url) => {
    expect(isLocalHost(hostOf(url))).toBe(true);
  });

  it.each([
    'http://example.com',
    'http://localhost.example.com',
    'http://128.0.0.1',
    'http://10.0.0.1',
    'http://192.168.1.1',
    'http://169.254.169.254',
    'http://0.0.0.0',
    'http://[::2]',
    'http://[fe80::1]',
    'http://[::ffff:8.8.8.8]',
    'http://evil.docker.internal',
    'http://notlocal.example',
  ])('takes %s as remote', (url) => {
    expect(isLocalHost(hostOf(url))).toBe(false);
  });
});
