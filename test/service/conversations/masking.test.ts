import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  contactDisplay,
  maskEmail,
  maskId,
  maskName,
  maskPhone,
  maskText,
  unmaskJson,
} from '../../../service/src/platform/masking.ts';
import { normalizePhone } from '../../../service/src/platform/phoneNumber.ts';
import { cpuMsOf } from '../../helpers/cpuTime.ts';

describe('masking', () => {
  it.each([
    ['5491155550134', '+54•••••••••34'],
    ['541155550134', '+54••••••••34'],
    ['5493514123456', '+54•••••••••56'],
    ['4915112345678', '+49•••••••••78'],
    ['5215512345678', '+52•••••••••78'],
    ['525512345678', '+52••••••••78'],
    ['14155550134', '+1••••••••34'],
    ['123456', '+1•••••'],
  ])('phone %s → %s', (digits, masked) => expect(maskPhone(digits)).toBe(masked));

  it("masks an id of WhatsApp's, which holds the customer's number in base64, and no other id", () => {
    const contact = { phone: '14155550134', email: null };
    const ids = [
      'wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQUFERjg0NDEzNDdFODU3MUMxMAA=',
      'wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQUFERjg0NDEzNDdFODU3MUMxMQA=',
      'wamid.HBgNNTQ5MTE1NTU1MDEzNBUCABIYFjNFQjBDNA',
    ];
    const masked = ids.map((id) => maskId(id, contact));
    const bytesOf = (id: string) =>
      Buffer.from(id.replace('wamid.', ''), 'base64').toString('latin1');
    expect(masked.map(bytesOf)).toEqual(
      ids.map((id) =>
        bytesOf(id).replace(/16503879439|5491155550134/, (number) => '0'.repeat(number.length)),
      ),
    );
    expect(new Set(masked).size).toBe(3);
    expect(masked.map((id) => id.length)).toEqual(ids.map(({ length }) => length));
    expect(bytesOf(ids[0]!)).toContain('16503879439');
    for (const id of [
      '6f1c2a52-0000-4000-8000-123456789012',
      'order 1234567890123456',
      'MTIzNDU2Nzg5MDEyMzQ1Ng==',
    ])
      expect(maskId(id, contact)).toBe(id);
    expect(maskId('14155550134', contact)).toBe('+1••••••••34');
  });

  it.each([
    ['maria@example.com', 'm••••@e••••••.com'],
    ['a@b.co', 'a•@b•.co'],
    ['x@localhost', 'x•@l••••••••'],
    ['𠮷田@example.com', '𠮷•@e••••••.com'],
  ])('e-mail %s → %s', (email, masked) => expect(maskEmail(email)).toBe(masked));

  it.each(['maria@example.com', 'jo$&ann@example.com', "o$'neil$`$$@example.com"])(
    'puts a masked e-mail back: %s',
    (email) => {
      const contact = { phone: null, email };
      expect(unmaskJson({ to: [maskEmail(email)] }, contact)).toEqual({ to: [email] });
    },
  );

  it('labels a contact by masked phone, else masked e-mail, else as a visitor', () => {
    expect(contactDisplay({ id: 'ctc_01ABCD', phone: '14155550134', email: 'a@b.co' })).toBe(
      '+1••••••••34',
    );
    expect(contactDisplay({ id: 'ctc_01ABCD', phone: null, email: 'a@b.co' })).toBe('a•@b•.co');
    expect(contactDisplay({ id: 'ctc_01ABCD', phone: null, email: null })).toBe('Visitor ABCD');
  });

  it.each([
    '+54 9 11 5555-0134',
    '1155550134',
    'call me: (011) 5555 0134 ok',
    'Ana <ana@example.com>',
    'ana@example.com',
    '５４９１１５５５５０１３４',
  ])('masks a name that is or holds a number or an address: %s', (name) => {
    const masked = maskName(name);
    expect(masked).toContain('•');
    expect(masked.normalize('NFKC').replace(/\D/g, '').length).toBeLessThan(6);
    expect(masked).not.toContain('ana@example');
  });

  it.each([
    '٠١١٥٥٥٥٠١٣٤',
    '+54\u200b9\u200b11\u200b5555\u200b0134',
    '+54,9,11,5555,0134',
    '+54_9_11_5555_0134',
    'Maria +54•9•11•5555•0134',
    '5️⃣4️⃣9️⃣1️⃣1️⃣5️⃣5️⃣5️⃣5️⃣0️⃣1️⃣3️⃣4️⃣',
    '𝟓𝟒𝟗𝟏𝟏𝟓𝟓𝟓𝟓𝟎𝟏𝟑𝟒',
    '555 0134',
    '54911\u115f5555\u11600134', // invisible, and letters
  ])('masks a number in a name, written %s', (name) => {
    const masked = maskName(name);
    expect(masked).toContain('••');
    expect(masked.match(/\p{N}/gu)?.length ?? 0).toBeLessThan(5);
  });

  it.each([
    'maria@example.com',
    'maria @ example.com',
    'maria(at)example.com',
    'maria[at]example.com',
    'maria ( AT ) example.com',
    'maria (arroba) example.com',
    'maria＠example.com',
    'maria%40example.com',
    'maria@@example.com',
    'm\u200baria\u200b@example.com',
    '"maria"@example.com',
    'maria@[example.com]',
  ])('masks an address in a name, written %s', (name) => {
    const masked = maskName(`Ana ${name}`);
    expect(masked).toMatch(/^Ana /);
    expect(masked).toContain('•');
    expect(masked).not.toMatch(/aria|xample/);
  });

  it.each(['maria@example.com', '+54 9 11 5555 0134', 'Ana (maria@example.com)'])(
    'masks a masked name no further: %s',
    (name) => {
      expect(maskName(maskName(name))).toBe(maskName(name));
    },
  );

  it.each([
    'María José',
    'R2D2',
    'Ana 3',
    "O'Neil",
    'Room 101',
    'Ｍａｒｉａ',
    'José²',
    'Ana (Buenos Aires)',
    'Ana & Co. 100%',
    'Мария',
    '👩‍👩‍👧 Ana',
  ])('leaves a name as it is: %s', (name) => expect(maskName(name)).toBe(name));

  const contact = { phone: '5491155550134', email: 'maria.lopez@example.com' };
  const expectMasked = (phone: string, written: string) =>
    expect(maskText(`ring ${written}, thanks`, { phone, email: null })).toBe(
      `ring ${maskPhone(phone)}, thanks`,
    );

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
  ])('masks the contact’s own number in a text, written %s', (number) =>
    expectMasked('5491155550134', number),
  );

  it.each([
    '+49 151 12345678',
    '0151 12345678',
    '(0151) 1234 5678',
    '0049-151-12345678',
    '+49 (0)151 12345678',
  ])('masks a German number, written %s', (number) => expectMasked('4915112345678', number));

  it.each([
    '15 5555-0134',
    '011 15 5555-0134',
    '11 15 5555 0134',
    '+54 11 15 5555 0134',
    '0115491155550134',
    '５４９１１５５５５０１３４',
    '＋５４ ９ １１ ５５５５ ０１３４',
    '٥٤٩١١٥٥٥٥٠١٣٤',
    '۵۴۹۱۱۵۵۵۵۰۱۳۴',
    '५४९११५५५५०१३४',
    '+54\u200b9\u200b11\u200b5555\u200b0134',
    '5\u20604\u00ad9\u200d1155550134',
    '+54_9_11_5555_0134',
    '+54,9,11,5555,0134',
    '+54•9•11•5555•0134',
    '+54 9 11\u00a05555–0134',
    '%2B54%209%2011%205555%200134',
  ])('masks an Argentine mobile, written %s', (number) => expectMasked('5491155550134', number));

  it('replaces the number alone beside a sign that lower case turns into a letter, such as the Kelvin sign', () => {
    expect(maskText('\u212a is my grade, ring 011 5555-0134, thanks', contact)).toBe(
      '\u212a is my grade, ring +54•••••••••34, thanks',
    );
  });

  it.each(['+54 9 351 412-3456', '0351 15-412-3456', '351 412 3456', '15 412-3456'])(
    'masks a number from Córdoba, written %s',
    (number) => expectMasked('5493514123456', number),
  );

  it.each(['+54 9 11 5555 0134', '011 15 5555 0134', '011 5555-0134'])(
    'masks an Argentine number stored without the 9, written %s',
    (number) => expectMasked('541155550134', number),
  );

  it.each([
    '+52 1 55 1234 5678',
    '5215512345678',
    '+52 55 1234 5678',
    '55 1234 5678',
    '(55) 1234-5678',
    '044 55 1234 5678',
    '045 55 1234 5678',
    '01 55 1234 5678',
    '1 55 1234 5678',
  ])('masks a Mexican number, written %s', (number) => {
    expectMasked('5215512345678', number);
    expectMasked('525512345678', number);
  });

  // Many Brazilian ids of WhatsApp lack the ninth digit.
  it.each([
    '+55 31 98888-1234',
    '+55 31 8888-1234',
    '5531988881234',
    '553188881234',
    '(31) 98888-1234',
    '31 98888 1234',
    '(31) 8888-1234',
    '(031) 98888-1234',
    '0 31 98888-1234',
    '+55 (0)31 98888-1234',
    '0055 31 98888-1234',
  ])('masks a Brazilian number, written %s', (number) => {
    expectMasked('553188881234', number);
    expectMasked('5531988881234', number);
  });

  it('takes a Brazilian landline and the mobile number with a 9 more for two numbers', () => {
    const landline = { phone: '553133334444', email: null };
    expect(maskText('(31) 93333-4444, (31) 3333-4444', landline)).toBe(
      '(31) 93333-4444, +55••••••••44',
    );
  });

  it.each([
    ['79161234567', '89161234567'],
    ['79161234567', '8 (916) 123-45-67'],
    ['14155550134', '(415) 555-0134'],
    ['14155550134', '1-415-555-0134'],
    ['5511987654321', '(11) 98765-4321'],
    ['36201234567', '06 20 123 4567'],
    ['390612345678', '06 1234 5678'],
    ['999123456789', '00999 123 456 789'],
  ])('masks %s, dialled %s', expectMasked);

  it.each([
    'maria.lopez@example.com',
    'MARIA.LOPEZ@EXAMPLE.COM',
    'maria.lopez＠example.com',
    'ｍａｒｉａ．ｌｏｐｅｚ＠ｅｘａｍｐｌｅ．ｃｏｍ',
    'maria.lopez%40example.com',
    'maria.lopez @ example.com',
    'maria.lopez(at)example.com',
    'maria.lopez [at] example.com',
    'maria.lopez（at）example.com',
    'maria.lopez (arroba) example(dot)com',
    'maria (dot) lopez [at] example [ dot ] com',
    'maria\u200b.lopez@exam\u00adple.com',
  ])('masks the contact’s own address, written %s', (address) => {
    expect(maskText(`mail me: <mailto:${address}>, “thanks” ½`, contact)).toBe(
      'mail me: <mailto:m••••••••@e••••••.com>, “thanks” ½',
    );
  });

  it('leaves what surrounds a detail exactly as typed', () => {
    const typed = 'Ｈｅｌｌｏ\u200b ﬁne ① ％ 👩‍👩‍👧 e\u0301 ٣ 100% \ud800';
    expect(maskText(`${typed} １１ ５５５５ ０１３４ ${typed}`, contact)).toBe(
      `${typed} +54•••••••••34 ${typed}`,
    );
  });

  it.each([
    'order 5491155550135',
    'order 49115555',
    'it costs 1,155.50',
    'ticket 915491155550134777',
    'write to sales@example.com',
    '2026-11-21T10:00:00',
    'order 5555-0135',
    'order １１５５５５０１３５',
    'maria @ example.com',
    'maria(at)example.com',
    'maria.lopez at work',
    '$ 54.911,55',
    '21/11/2026 11:55',
    'order 11555501341',
    'lot 11 5555 x 0134',
    '+49 151 12345678',
    '“50%” off – 1 155 €',
  ])('leaves other numbers and addresses readable: %s', (text) =>
    expect(maskText(text, contact)).toBe(text),
  );

  it('never leaves the number in, whatever separators stand between its digits (property)', () => {
    const separator = fc.constantFrom('', ' ', '-', '.', '  ', ' - ', '/');
    fc.assert(
      fc.property(
        fc.array(separator, { minLength: 13, maxLength: 13 }),
        fc.constantFrom('', '+', '00'),
        fc.string(),
        (separators, prefix, around) => {
          const spelled =
            prefix +
            [...contact.phone]
              .map((digit, index) => digit + (index < 12 ? separators[index] : ''))
              .join('');
          const quiet = around.replace(/\d/g, '');
          expect(
            maskText(`${quiet} ${spelled} ${quiet}`, contact).replace(/\D/g, ''),
          ).not.toContain('1155550134');
        },
      ),
    );
  });

  it.each(['\x7f', '\x7f\x7f ', '\x00', '%', '\u00ad'])(
    'keeps the text around a number, also when it begins with %j',
    (sign) => {
      const masked = maskText(`${sign}Hello there call 5491155550134 please … é`, contact);
      expect(masked).toBe(`${sign}Hello there call +54•••••••••34 please … é`);
    },
  );

  it('takes bounded time with hostile texts', () => {
    const texts = [
      '1 '.repeat(2048),
      '5-4-9-1-1-5-5-5-5-0-1-3-'.repeat(170),
      '@'.repeat(4096),
      `${'a'.repeat(2000)}@${'a'.repeat(2000)}`,
      '0('.repeat(2048),
      ...['٥', '\u200b', '(', '%', 'ﷺ', '1', '᪙'].map((sign) => sign.repeat(4096)),
      ...[
        'a@',
        'a%40',
        'a(at)',
        'a ( ',
        '5•',
        '１x',
        '𝟓',
        '1234567x',
        'maria.lopez ',
        '54 9 11 15 ',
      ].map((signs) => signs.repeat(4096 / signs.length)),
      ...['a', 'a(', 'a@', 'maria.lopez', '5 4 9 1 1 5 5 5 5 0 1 3'].map(
        (start) => `${start}${' '.repeat(4000)}-`,
      ),
    ];
    const cpuMs = cpuMsOf(() => {
      for (const text of texts) {
        maskText(text, contact);
        maskName(text);
      }
    });
    expect(cpuMs).toBeLessThan(2000);
  });
});

describe('normalizePhone', () => {
  it.each([
    ['+54 9 11 5555-0134', '5491155550134'],
    ['0054 9 11 5555 0134', '5491155550134'],
    ['5491155550134', '5491155550134'],
    ['+1 (415) 555-0134', '14155550134'],
    ['\u202a+1 (415) 555\u20110134\u202c', '14155550134'], // as copied from an address book
    ['+1 415 555 – 0134', '14155550134'],
    ['12345', null],
    ['1234567890123456', null],
    ['call me', null],
    ['', null],
  ])('%s → %s', (text, digits) => expect(normalizePhone(text)).toBe(digits));
});
