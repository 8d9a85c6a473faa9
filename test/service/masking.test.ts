import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contactDisplay, maskEmail, maskName, maskPhone, maskText } from '../../service/src/domain/masking.ts';
import { normalizePhone } from '../../service/src/domain/contact.ts';

describe('masking', () => {
  it.each([
    ['5491155550134', '+54•••••••••34'],
    ['4915112345678', '+49•••••••••78'],
    ['14155550134', '+1••••••••34'],
    ['123456', '+1•••••'],
  ])('phone %s → %s', (digits, masked) => expect(maskPhone(digits)).toBe(masked));

  it.each([
    ['maria@example.com', 'm••••@e••••••.com'],
    ['a@b.co', 'a•@b•.co'],
    ['x@localhost', 'x•@l••••••••'],
  ])('e-mail %s → %s', (email, masked) => expect(maskEmail(email)).toBe(masked));

  it('labels a contact by masked phone, else masked e-mail, else as a visitor', () => {
    expect(contactDisplay({ id: 'ctc_01ABCD', phone: '14155550134', email: 'a@b.co' })).toBe('+1••••••••34');
    expect(contactDisplay({ id: 'ctc_01ABCD', phone: null, email: 'a@b.co' })).toBe('a•@b•.co');
    expect(contactDisplay({ id: 'ctc_01ABCD', phone: null, email: null })).toBe('Visitor ABCD');
  });

  it.each(['+54 9 11 5555-0134', '1155550134', 'call me: (011) 5555 0134 ok', 'Ana <ana@example.com>', 'ana@example.com', '５４９１１５５５５０１３４'])(
    'a name that is or holds a number or an address: %s',
    (name) => {
      const masked = maskName(name);
      expect(masked).toContain('•');
      expect(masked.normalize('NFKC').replace(/\D/g, '').length).toBeLessThan(6);
      expect(masked).not.toContain('ana@example');
    },
  );

  it.each(['María José', 'R2D2', 'Ana 3', "O'Neil", 'Room 101'])('a name stays: %s', (name) => expect(maskName(name)).toBe(name));

  const contact = { phone: '5491155550134', email: 'maria.lopez@example.com' };

  it.each([
    '+5491155550134',
    '+54 9 11 5555-0134',
    '0054 9 11 5555 0134',
    '54 (9) 11 5555 0134',
    '+54 11 5555 0134',
    '011 5555-0134',
    '11 5555 0134',
    '11.5555.0134',
    '11‑5555‑0134',
  ])('masks the contact’s own number in a text, written %s', (number) => {
    const masked = maskText(`ring ${number}, thanks`, contact);
    expect(masked).toBe('ring +54•••••••••34, thanks');
  });

  it.each(['+49 151 12345678', '0151 12345678', '(0151) 1234 5678', '0049-151-12345678', '+49 (0)151 12345678'])('a German one, written %s', (number) => {
    expect(maskText(`ring ${number}!`, { phone: '4915112345678', email: null })).toBe('ring +49•••••••••78!');
  });

  it.each(['maria.lopez@example.com', 'MARIA.LOPEZ@EXAMPLE.COM', 'mailto:maria.lopez@example.com', '<maria.lopez@example.com>'])(
    'masks the contact’s own address, written %s',
    (address) => expect(maskText(address, contact).toLowerCase()).not.toContain('lopez'),
  );

  it.each(['order 5491155550135', 'order 49115555', 'it costs 1,155.50', 'ticket 915491155550134777', 'write to sales@example.com', '2026-11-21T10:00:00'])(
    'leaves other numbers and addresses readable: %s',
    (text) => expect(maskText(text, contact)).toBe(text),
  );

  it('never leaves the number in, whatever separators stand between its digits (property)', () => {
    const separator = fc.constantFrom('', ' ', '-', '.', '  ', ' - ', '/');
    fc.assert(
      fc.property(fc.array(separator, { minLength: 13, maxLength: 13 }), fc.constantFrom('', '+', '00'), fc.string(), (separators, prefix, around) => {
        const spelled = prefix + [...contact.phone].map((digit, index) => digit + (index < 12 ? separators[index] : '')).join('');
        const quiet = around.replace(/\d/g, '');
        expect(maskText(`${quiet} ${spelled} ${quiet}`, contact).replace(/\D/g, '')).not.toContain('1155550134');
      }),
    );
  });

  it('is done in bounded time with hostile texts', () => {
    const texts = ['1 '.repeat(2048), '5-4-9-1-1-5-5-5-5-0-1-3-'.repeat(170), '@'.repeat(4096), `${'a'.repeat(2000)}@${'a'.repeat(2000)}`, '0('.repeat(2048)];
    const startedAt = performance.now();
    for (const text of texts) {
      maskText(text, contact);
      maskName(text);
    }
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});

describe('normalizePhone', () => {
  it.each([
    ['+54 9 11 5555-0134', '5491155550134'],
    ['0054 9 11 5555 0134', '5491155550134'],
    ['5491155550134', '5491155550134'],
    ['+1 (415) 555-0134', '14155550134'],
    ['12345', null],
    ['1234567890123456', null],
    ['call me', null],
    ['', null],
  ])('%s → %s', (text, digits) => expect(normalizePhone(text)).toBe(digits));
});
