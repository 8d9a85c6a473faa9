import { describe, expect, it } from '@jest/globals';
import {
  isNo,
  isYes,
  anyAsksForPerson,
  wantsPerson,
} from '../../../../service/src/agent/keyword/phrases.ts';
import { cpuMsOf } from '../../../helpers/cpuTime.ts';

describe('the customer wants a person', () => {
  it.each([
    'I want a person',
    'I WANT TO TALK TO A PERSON',
    'please connect me to an agent',
    'put me through to someone',
    'human please',
    'a person, please',
    'is there a real person I can talk to?',
    'could a colleague contact me',
    "I don't want to talk to a bot",
    'It did not work. Agent please',
    'This does not help\nhuman',
    "I don't understand I want to talk to a person",
    "why can't I talk to a human?",
    'quiero hablar con un asesor',
    'Pásame con un humano',
    'necesito ayuda de una persona',
    'que alguien me llame por favor',
    'no quiero hablar con un bot',
    'atención humana',
    'quero falar com um atendente',
    'estou no site e quero falar com um atendente',
    'pode me transferir para um humano?',
    'quero que alguém me ligue',
    'não quero falar com um robô',
    'atendimento humano',
  ])('%s', (text) => expect(wantsPerson(text)).toBe(true));

  it.each([
    "I don't want to talk to a person",
    'a table for one person',
    'a person',
    'I managed to talk to a person yesterday',
    'rather than talk to a person I want to do it here',
    'where is my order?',
    'I need support with my router',
    'I want the team plan',
    'I need someone to fix my roof',
    'necesito soporte técnico para mi equipo',
    'no quiero hablar con una persona',
    'una mesa para una persona',
    'no quiero que me llamen',
    'não quero falar com ninguém',
    'não quero falar no site com um atendente',
    'por ahora no preciso un asesor',
    'no quiero que me conecte para una persona',
    'uma pessoa',
    'não quero que me liguem',
  ])('not: %s', (text) => expect(wantsPerson(text)).toBe(false));

  it('also in the phrases of the workspace, as whole words, with or without accents and capitals', () => {
    const phrases = ['Línea directa', '  ', '!'];
    expect(wantsPerson('necesito la LINEA directa ya', phrases)).toBe(true);
    expect(wantsPerson('linea directamente', phrases)).toBe(false);
    expect(wantsPerson('hola!', phrases)).toBe(false);
    expect(anyAsksForPerson([{ text: 'línea directa' }, { text: 'hola' }], phrases)).toBe(true);
  });
});

describe('yes and no', () => {
  it.each([
    'yes',
    'Yes, please!',
    'sure',
    'go ahead',
    '👍',
    'sí',
    'sí, por favor',
    'dale',
    'sim',
    'pode ser',
  ])('yes: %s', (text) => expect([isYes(text), isNo(text)]).toEqual([true, false]));

  it.each(['no', 'no thanks', 'never mind', 'no, gracias', 'mejor no', 'não', 'não quero'])(
    'not a yes: %s',
    (text) => expect(isYes(text)).toBe(false),
  );

  it.each([
    'yes, but not now',
    'yes?',
    'no please',
    'claro que no',
    'yes cancel the other one',
    '',
    'I do not want that at all, so please do not do it, and leave me in peace now 👍',
    '👎👍',
  ])('not a plain yes: %s', (text) => expect(isYes(text)).toBe(false));
});

it.each([
  'talk to ',
  'talk to a real live real live ',
  'quiero ',
  "'",
  'yes ',
  'no quiero hablar con una ',
  'ﷺ',
  'is there a ',
])('many times "%s" takes bounded time', (piece) => {
  const text = piece.repeat(4096).slice(0, 4096);
  const cpuMs = cpuMsOf(() => {
    wantsPerson(text, [text]);
    isYes(text);
  });
  expect(cpuMs).toBeLessThan(5000);
});
