// What counts as an answer, and how it is read in the languages of the agent.
import { describe, expect, it } from '@jest/globals';
import { LANGUAGES, type Language } from '../../../service/src/platform/reading/language.ts';
import {
  languagesOf,
  readAnswer,
  type Accept,
  type AnswerValue,
} from '../../../service/src/waits/accept.ts';

/** A Monday. */
const NOW = new Date(2026, 5, 1, 12);

/** Reads an answer as a wait does: in the language that question and answer show. */
const answerTo =
  (type: Accept['type'], question: string, choices: readonly string[] = []) =>
  (...texts: string[]): AnswerValue | null =>
    readAnswer({ type, choices }, texts, {
      languages: languagesOf([question, ...texts], LANGUAGES),
      now: NOW,
    });

describe('an answer of any kind', () => {
  it('is all that the customer wrote, in lines', () => {
    expect(answerTo('any', 'Anything else?')('No.', 'Thanks!')).toBe('No.\nThanks!');
  });
});

describe('a choice', () => {
  const day = answerTo('choice', 'Which day?', [
    'Tuesday',
    'Thursday',
    '10 July',
    'Café con leche',
  ]);

  it.each([
    ['Tuesday', 'Tuesday'],
    ['  tuesday! ', 'Tuesday'],
    ['cafe con leche', 'Café con leche'],
    ['CAFÉ CON LECHE.', 'Café con leche'],
    ['2', 'Thursday'],
    ['2.', 'Thursday'],
    ['(2)', 'Thursday'],
    ['n° 2', 'Thursday'],
    ['number 2', 'Thursday'],
    ['２', 'Thursday'],
    ['10 july', '10 July'],
    ['Tuesday please', 'Tuesday'],
    ['Yes, Tuesday works!', 'Tuesday'],
    ['option 2', 'Thursday'],
    ['opción 2 por favor', 'Thursday'],
    ['opção nº 2', 'Thursday'],
    ['the 2nd one', 'Thursday'],
    ['la segunda', 'Thursday'],
    ['the second one, please', 'Thursday'],
  ])('is taken from %j', (text, choice) => {
    expect(day(text)).toBe(choice);
  });

  it.each([
    '5',
    '0',
    '22',
    'Tuesday or Thursday',
    'not Tuesday',
    'Tuesday is impossible',
    'is Tuesday free?',
    'Tuesday?',
    '2?',
    'the second one?',
    "Tuesday wouldn't work",
    "I couldn't on Tuesday",
    'it shouldn’t be Tuesday',
    "I didn't say Tuesday",
    "that wasn't Tuesday",
    "Tuesday and Monday aren't",
    'any day besides Tuesday',
    'apart from Tuesday',
    'I came on a Tuesday and nobody was there',
    'option 2 or 3',
    'one second',
    'A second, please',
    'segunda', // Monday in Portuguese
    'the 2nd', // of July
    'Wednesday',
    '',
    '👍',
  ])('is not read into %j', (text) => {
    expect(day(text)).toBeNull();
  });

  it.each([
    ['A+', 'A-'],
    ['< 100 EUR', '> 100 EUR'],
    ['C', 'C++'],
  ])('is taken from what its button sends, also when %j and %j differ by a sign', (...choices) => {
    const either = answerTo('choice', 'Which?', choices);
    expect(choices.map((choice) => either(choice))).toEqual(choices);
    expect(choices.map((choice) => either(`${choice.toLowerCase()}, please`))).toEqual(choices);
  });

  it.each(['A', '100 EUR', 'A*'])('is not taken from %j, which could mean two of them', (text) => {
    expect(answerTo('choice', 'Which?', ['A+', 'A-', '< 100 EUR', '> 100 EUR'])(text)).toBeNull();
  });

  it('is not taken from a text without the sign that tells it from another one', () => {
    expect(answerTo('choice', 'Which?', ['A+', 'A-'])('A, please')).toBeNull();
  });

  it('with another sign is another choice', () => {
    expect(answerTo('choice', 'Which?', ['A+', 'B'])('A-')).toBeNull();
  });

  it('is taken from a spelling without ß and umlauts', () => {
    const size = answerTo('choice', 'Welche?', ['Größe', 'Farbe']);
    expect(size('grosse')).toBe('Größe');
    expect(size('GRÖSSE')).toBe('Größe');
  });

  it.each([
    ['express delivery please', 'Express delivery'],
    ['Express delivery to a shop, thanks', 'Express delivery to a shop'],
    ['delivery please', 'Delivery'],
    ['express delivery and delivery', null],
    ['delivery or express delivery', null],
  ])('that has the words of a shorter one is taken from %j', (text, choice) => {
    const options = ['Delivery', 'Express delivery', 'Express delivery to a shop'];
    expect(answerTo('choice', 'Which?', options)(text)).toBe(choice);
  });

  it.each([
    ['Qual dia você prefere?', 'no sábado', 'Sábado'],
    ['Qual dia você prefere?', 'não no sábado', null],
    ['¿Qué día prefiere usted?', 'no sábado', null],
  ])('is refused by the words of its language: %s %s', (question, text, choice) => {
    expect(answerTo('choice', question, ['Sábado', 'Domingo'])(text)).toBe(choice);
  });

  it('that is a question is taken by its words', () => {
    const topic = answerTo('choice', 'What is it about?', ['Where is my order?', 'Something else']);
    expect(topic('where is my order??')).toBe('Where is my order?');
    expect(topic('where is my order')).toBe('Where is my order?');
  });

  it('and courtesy are one answer', () => {
    const answer = answerTo('choice', 'Sure?', ['Yes', 'No']);
    expect(answer('Yes please')).toBe('Yes');
    expect(answer('No, thanks')).toBe('No');
    expect(answer('No. 1')).toBeNull();
    expect(answer('1 no')).toBeNull();
  });

  it('is found in the last message that names one', () => {
    expect(day('Hello!', 'let me see', 'thursday')).toBe('Thursday');
  });

  it.each([
    ['Tuesday', 'actually no'],
    ['1', 'actually no'],
    ['1', 'sorry, no'],
    ['Tuesday', 'sorry, not Tuesday'],
    ['Tuesday', 'is Thursday free?'],
    ['Tuesday', 'Tuesday or Thursday'],
    ['Tuesday', 'I remembered that on Thursday we have guests'],
  ])('that a newer message takes back is not read: %j, %j', (...texts) => {
    expect(day(...texts)).toBeNull();
  });

  it('is read before messages that say nothing about it', () => {
    expect(day('Tuesday', 'thanks!', 'ok?')).toBe('Tuesday');
    expect(day('Tuesday', 'One second')).toBe('Tuesday');
  });

  it('is that of the newest message that means one, by its text or its place', () => {
    expect(day('Tuesday', '2')).toBe('Thursday');
    expect(day('Tuesday', '2', 'thanks')).toBe('Thursday');
    expect(day('1', 'Sorry, 2')).toBe('Thursday');
    expect(day('Tuesday', 'I mean the second one')).toBe('Thursday');
    expect(day('2', 'Tuesday')).toBe('Tuesday');
    expect(day('Tuesday', '1')).toBe('Tuesday');
    expect(day('Tuesday', '5')).toBe('Tuesday');
  });

  it('may be written in several messages', () => {
    const room = answerTo('choice', 'Which?', ['Room 2', 'Room 1']);
    expect(room('Room', '2')).toBe('Room 2');
    expect(room('Room 1', '2')).toBeNull();
    expect(day('10', 'July')).toBe('10 July');
  });

  it('is not corrected by a number that may mean it', () => {
    const room = answerTo('choice', 'Which?', ['Room 2', 'Room 1', 'Room 3']);
    expect(room('Room 2', '2')).toBe('Room 2');
    expect(room('Room 2', 'number 2 please', 'thanks')).toBe('Room 2');
    expect(room('Room 2', '1')).toBeNull();
    expect(room('Room 2', 'option 2')).toBe('Room 1');
    expect(room('Room 2', '3')).toBe('Room 3');
    const table = answerTo('choice', 'Which?', ['For three', 'For two', 'For one']);
    expect(table('For three', '3')).toBe('For three');
  });

  it.each(["I don't want it", 'not now', 'maybe later'])(
    'that is No is not taken back by its reason: %j',
    (reason) => {
      expect(answerTo('choice', 'Shall we send it?', ['Yes', 'No'])('No', reason)).toBe('No');
    },
  );

  it('that is a number counts by its text before its place', () => {
    expect(answerTo('choice', 'How many?', ['2', '1'])('1')).toBe('1');
  });

  it.each([
    ['2', '2 nights'],
    ['3 please', '3 nights'],
    ['option 2', '3 nights'],
    ['the second one', '3 nights'],
    ['7', null],
  ])('that begins with a number is taken by that number, not by its place: %j', (text, choice) => {
    const nights = answerTo('choice', 'How long?', ['2 nights', '3 nights', '5 nights', '5 weeks']);
    expect(nights(text)).toBe(choice);
    expect(nights('5')).toBeNull();
  });

  it('that has a number in a word is taken by that number', () => {
    expect(answerTo('choice', 'When?', ['2pm', '3pm', '4pm'])('3')).toBe('3pm');
    expect(answerTo('choice', 'When?', ['9:00', '10:00', '14:00'])('3')).toBe('14:00');
  });

  it.each([
    [['Room 1', 'Room 2'], '2', 'Room 2'],
    [['Room 2', 'Room 1'], '2', null],
    [['Room 2', 'Room 1'], 'number 1', null],
    [['Room 2', 'Room 1'], 'Room 2', 'Room 2'],
    [['Room 2', 'Room 1'], 'option 2', 'Room 1'],
    [['Room 2', 'Room 1'], 'the second one', 'Room 1'],
    [['Room 2 with a view', 'Terrace'], '2', null],
    [['Tuesday 2 July', 'Wednesday 3 July', 'Thursday 4 July'], '3', null],
    [['Monday at 2 pm', 'Thursday at 3 pm', 'Friday at 1 pm'], '3', null],
    [['Room 12', 'Room 14'], '14', 'Room 14'],
    [['Room 12', 'Room 14'], '2', 'Room 14'],
    [['2 nights', 'Until July 2'], '2', null],
    [['30 m²', '60 m²'], '2', '60 m²'],
    [['Two people', 'Three people', 'Four people'], '2', 'Two people'],
    [['Two people', 'Three people', 'Four people'], 'option 2', 'Three people'],
    [['Table for three', 'Table for two', 'Table for one'], '3', null],
    [['Dos personas', 'Tres personas'], '2', 'Dos personas'],
    [['Carta dos pais', 'Outra carta'], '2', 'Outra carta'],
    [['Pro, $2,500', 'Basic, $1,000'], '1', 'Pro, $2,500'],
    [['Pro, $2,500', 'Basic, $1,000'], '2', 'Basic, $1,000'],
    [['Large, 2.5 kg', 'Small, 1.5 kg'], '2', 'Small, 1.5 kg'],
    [['Train at 12:02', 'Train at 12:30'], '2', 'Train at 12:30'],
    [['Monday at 2:00', 'Tuesday at 1:00'], '2', null],
    [['9:00', '10:00', '2:00'], '2', '2:00'],
  ])('of %j is not taken from a number that may mean two: %j', (rooms, text, choice) => {
    expect(answerTo('choice', 'Which one?', rooms)(text)).toBe(choice);
  });

  it('with a number in brackets is taken by its place in the list that was sent', () => {
    const delivery = answerTo('choice', 'How shall we send it?', [
      'Standard delivery (3 days)',
      'Express delivery (1 day)',
      'Collect from our shop',
    ]);
    expect(delivery('3')).toBe('Collect from our shop');
    expect(delivery('1')).toBe('Standard delivery (3 days)');
  });

  it('of signs alone is taken by those signs', () => {
    expect(answerTo('choice', 'Happy?', ['👍', '👎'])('👎')).toBe('👎');
  });

  // Waits of earlier versions may have such a choice.
  it.each(['\u200B', '\u00AD', '\u0301', '\uFE0F'])(
    'that nobody sees (%j) stands in no answer',
    (unseen) => {
      const answer = answerTo('choice', 'Sure?', ['Yes', unseen]);
      expect(answer('hello')).toBeNull();
      expect(answer('Yes please')).toBe('Yes');
    },
  );
});

describe('an e-mail', () => {
  const email = answerTo('email', 'What is your e-mail?');

  it.each([
    ['Maria@Example.COM', 'maria@example.com'],
    ['it is maria@example.com.', 'maria@example.com'],
    ['mi correo: <maria.perez+n8n@sub.example.co>', 'maria.perez+n8n@sub.example.co'],
    ["'maria@example.com'", 'maria@example.com'],
    ['*maria@example.com*', 'maria@example.com'],
    ['-maria@example.com- thanks', 'maria@example.com'],
    ['_maria@example.com_', 'maria@example.com'],
    ['it is *__maria_p@example.com__*.', 'maria_p@example.com'],
    ['_maria@example.com', '_maria@example.com'],
    ["_o'brien_@example.com", "_o'brien_@example.com"],
    ['no.reply.or.not@example.com', 'no.reply.or.not@example.com'],
    ['no, maria@example.com', 'maria@example.com'],
  ])('is read in %j', (text, value) => {
    expect(email(text)).toBe(value);
  });

  it.each([
    'maria@',
    'none',
    'a@example.com or b@example.com',
    'ñandú.maria@example.com',
    'x'.repeat(2000) + ' a@example.com',
    "I don't use old@example.com any more",
    'ya no uso viejo@example.com',
    'do you mean a@example.com?',
  ])('is not read in %j', (text) => {
    expect(email(text)).toBeNull();
  });

  it('that a newer message takes back is not read', () => {
    expect(email('old@example.com', 'not that one, sorry')).toBeNull();
    expect(email('a@example.com', 'a@example.com or b@example.com')).toBeNull();
    expect(email('a@example.com', 'x'.repeat(2000))).toBe('a@example.com');
    expect(email('a@example.com', 'I have not received my order')).toBe('a@example.com');
  });

  it('is read beside a sentence that asks or refuses something else', () => {
    expect(email('a@example.com. Can you help?')).toBe('a@example.com');
    expect(email('Sorry, busy day! a@example.com')).toBe('a@example.com');
  });

  it('written twice is one', () => {
    expect(email('a@example.com', 'I mean A@example.com')).toBe('a@example.com');
  });
});

describe('a number', () => {
  it.each<[string, string, number]>([
    ['How many do you want?', '12', 12],
    ['How many do you want?', 'I want 1,234.5', 1234.5],
    ['How many do you want?', 'twelve please', 12],
    ['¿Cuánto quiere pagar?', '1.234,50', 1234.5],
    ['¿Cuántos quiere?', '1.500', 1500],
    ['Quanto você quer pagar?', 'R$ 1.500', 1500],
    ['¿Cuántos quiere?', 'son cinco', 5],
    ['Which temperature is it there?', '-5', -5],
    ['How many do you want?', 'One.', 1],
    ['How many do you want?', 'zero', 0],
    ['¿Cuántos quiere?', 'uno', 1],
    ['¿Cuántas quiere?', 'una', 1],
    ['¿Cuántos quiere?', 'cero', 0],
    ['Quantos você quer?', 'um', 1],
    ['Quantas você quer?', 'uma', 1],
    ['How many do you want?', 'No, 5', 5],
    ['What is your order number?', 'order no. 1042', 1042],
    ['What is your order number?', 'It is no 1042', 1042],
    ['What is your order number?', 'order no: 1042', 1042],
    ['What is your order number?', 'my order no is 1042', 1042],
    ['What is your order number?', '#1042', 1042],
    ['What is your order number?', 'order #1042', 1042],
    ['What is your order number?', 'It is 1042. I have not received it', 1042],
    ['What is your order number?', 'Sorry, I was busy. My order is 1042', 1042],
    ['¿Cuántos quiere?', 'cinco, nada más', 5],
    ['¿Cuántos quiere?', 'dos', 2],
    ['¿Cuántas personas son?', 'mesa para dos personas', 2],
    ['Quantos você quer?', 'no total 5', 5],
  ])('asked for with %j is read in %j', (question, text, value) => {
    expect(answerTo('number', question)(text)).toBe(value);
  });

  it.each([
    'the blue one',
    'one moment',
    'one?',
    'um',
    'Um...',
    'many',
    '5 or 6',
    'A-1042',
    '1 2 3',
    'not 5',
    'is 5 ok?',
    '5, but smaller ones',
    'twenty two',
    '5, I mean twenty two',
  ])('is not read in %j', (text) => {
    expect(answerTo('number', 'How many do you want?')(text)).toBeNull();
  });

  it('that a newer message takes back is not read', () => {
    const number = answerTo('number', 'How many do you want?');
    expect(number('5', 'maybe more')).toBeNull();
    expect(number('5', '6 or 7')).toBeNull();
    expect(number('5', 'sorry, twenty two')).toBeNull();
    expect(number('5', 'great')).toBe(5);
    expect(number('5', 'I have not received the others')).toBe(5);
  });

  it('is found in the last message that names one, also where that is one', () => {
    expect(answerTo('number', 'How many do you want?')('Hello', 'one')).toBe(1);
    expect(answerTo('number', 'How many do you want?')('two', 'one')).toBe(1);
  });

  it('is not read in a hesitation while the language is not known', () => {
    expect(answerTo('number', 'N?')('um')).toBeNull();
    expect(answerTo('number', 'N?')('uno')).toBe(1);
    const context = { languages: languagesOf(['N?', 'um'], ['pt', 'es']), now: NOW };
    expect(readAnswer({ type: 'number', choices: [] }, ['um'], context)).toBe(1);
  });

  it("that means two numbers in the agent's languages is not read", () => {
    expect(answerTo('number', 'N?')('1.500')).toBeNull();
    expect(answerTo('number', 'N?')('1500')).toBe(1500);
  });
});

describe('a date', () => {
  it.each<[string, string, string]>([
    ['Which day would you like?', '2026-07-04', '2026-07-04'],
    ['Which day would you like?', 'July 4th', '2026-07-04'],
    ['Which day would you like?', 'Friday', '2026-06-05'],
    ['Which day would you like?', 'tomorrow', '2026-06-02'],
    ['Which day would you like?', '25/12/2026', '2026-12-25'],
    ['Which day would you like?', '7/07/2026', '2026-07-07'],
    ['¿Qué día le queda bien?', 'el 3 de agosto', '2026-08-03'],
    ['¿Qué día le queda bien?', '03/08/2026', '2026-08-03'],
    ['¿Qué día le queda bien?', 'pasado mañana', '2026-06-03'],
    ['Qual dia é melhor para você?', '3 de agosto', '2026-08-03'],
    ['Qual dia é melhor para você?', 'amanhã', '2026-06-02'],
    ['Which day would you like?', 'the day after tomorrow', '2026-06-03'],
    ['Which day would you like?', 'Friday after 5 pm', '2026-06-05'],
    ['Which day would you like?', 'no wait, Friday', '2026-06-05'],
    ['¿Qué día le queda bien?', 'No, el viernes', '2026-06-05'],
    ['¿Qué día le queda bien?', 'el viernes después de las 5', '2026-06-05'],
    ['Qual dia é melhor para você?', 'no sábado', '2026-06-06'],
    ['Qual dia é melhor para você?', 'não, sexta', '2026-06-05'],
  ])('asked for with %j is read in %j', (question, text, value) => {
    expect(answerTo('date', question)(text)).toBe(value);
  });

  it.each(['03/04/2026', 'Friday or Saturday', 'soon', '31/31/2026'])(
    'is not read in %j after an English question',
    (text) => {
      expect(answerTo('date', 'Which day would you like?')(text)).toBeNull();
    },
  );

  it.each([
    ['Which day would you like?', 'not Friday'],
    ['Which day would you like?', "I can't on Friday"],
    ['Which day would you like?', 'any day but Friday'],
    ['Which day would you like?', 'Is Friday free?'],
    ['Which day would you like?', 'before Friday'],
    ['¿Qué día le queda bien?', 'el viernes no puedo'],
    ['¿Qué día le queda bien?', 'cualquier día menos el viernes'],
    ['¿Qué día le queda bien?', '¿está libre el viernes'],
    ['Qual dia é melhor para você?', 'não posso na sexta'],
  ])('is not read in an answer that refuses it: %j, %j', (question, text) => {
    expect(answerTo('date', question)(text)).toBeNull();
  });

  it.each([
    ['Friday', 'sorry, not Friday'],
    ['Friday', 'no wait, Saturday or Sunday'],
    ['Friday', 'or 03/04'],
    ['Friday', '03/04/2026'],
    ['Friday', 'is Saturday free?'],
  ])('that a newer message takes back is not read: %j, %j', (...texts) => {
    expect(answerTo('date', 'Which day would you like?')(...texts)).toBeNull();
  });

  it('is that of the newest message that names one', () => {
    const day = answerTo('date', 'Which day would you like?');
    expect(day('Friday', 'no wait, Saturday', 'thank you')).toBe('2026-06-06');
    expect(day('the day after', 'tomorrow')).toBe('2026-06-03');
  });

  it('that may be two days is not read while the language is not known', () => {
    expect(answerTo('date', 'D?')('03/08/2026')).toBeNull();
  });
});

describe('the language of an answer', () => {
  it.each<[string, readonly Language[]]>([
    ['Which day would you like?', ['en']],
    ['¿Qué día le queda bien?', ['es']],
    ['D?', LANGUAGES],
  ])('is that of the question %j', (question, languages) => {
    expect(languagesOf([question, '5'], LANGUAGES)).toEqual(languages);
  });
});
