// What the team reads in place of a file that a customer sent.
import { expect, it } from '@jest/globals';
import {
  attachmentOf,
  beginningOf,
  messageInWords,
} from '../../../service/src/inbox/messageWords.ts';
import type { Message } from '../../../service/src/conversations/message.ts';

const received = (text: string) => ({ direction: 'inbound', text }) as Message;

it.each([
  ['[Picture] This seam', 'Picture', 'This seam', 'See it in WhatsApp.'],
  ['[Voice message]', 'Voice message', '', 'Listen to it in WhatsApp.'],
  ['[Document: report.pdf] The bill', 'report.pdf (PDF)', 'The bill', 'Open it in WhatsApp.'],
  ['[Document: Offer.DOCX]', 'Offer.DOCX (Word)', '', 'Open it in WhatsApp.'],
  ['[Document: report (PDF)]', 'report (PDF)', '', 'Open it in WhatsApp.'],
  [
    '[Document: report [final].pdf] see [1]',
    'report [final].pdf (PDF)',
    'see [1]',
    'Open it in WhatsApp.',
  ],
  ['[Document: a.constructor]', 'a.constructor', '', 'Open it in WhatsApp.'],
  ['[Document]', 'Document', '', 'Open it in WhatsApp.'],
  ['[In a group] [Picture] Ours', 'Picture, in a group', 'Ours', 'See it in WhatsApp.'],
  [
    '[Changed an earlier message] [Video]',
    'Video, changed an earlier message',
    '',
    'See it in WhatsApp.',
  ],
  ['[Contact: Ben, +44 20 7946 0018]', 'Contact', '', null],
])('%s is shown as an attachment: %s', (text, words, caption, where) => {
  expect(attachmentOf(received(text), 'whatsapp_cloud')).toMatchObject({ words, caption, where });
});

it.each(['Hello', '[sic] Hello', '[Order: 2 × SKU-7]', '[Picture', '[In a group] Hello'])(
  'a text stays as it is: %s',
  (text) => {
    expect(attachmentOf(received(text), 'whatsapp_cloud')).toBeNull();
    expect(messageInWords(received(text), 'whatsapp_cloud')).toBe(text);
  },
);

it('what a visitor of the web chat types is text, and so is what the team writes', () => {
  expect(attachmentOf(received('[Picture]'), 'web_chat')).toBeNull();
  const ours = { direction: 'outbound', text: '[Picture]' } as Message;
  expect(attachmentOf(ours, 'whatsapp_cloud')).toBeNull();
});

it('an attachment or a location is one line in the list', () => {
  const inList = (text: string) => messageInWords(received(text), 'whatsapp_cloud');
  expect(inList('[Picture] This seam')).toBe('Picture: This seam');
  expect(inList('[Document: report.pdf]')).toBe('report.pdf (PDF)');
  expect(inList('[Location: Pier 39]')).toBe('Location: Pier 39');
});

it.each([
  ['Two\n lines', 'Two lines'],
  ['🙂'.repeat(10), '🙂'.repeat(10)],
  ['🙂'.repeat(11), `${'🙂'.repeat(10)}…`],
  [`a${'🙂'.repeat(10)}`, `a${'🙂'.repeat(9)}…`],
  [`${' '.repeat(20)}b`, ' …'],
])('shows ten characters of %j as %j', (text, shown) => {
  expect(beginningOf(text, 10)).toBe(shown);
});
