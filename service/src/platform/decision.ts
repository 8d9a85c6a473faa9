import type { Actor } from './actor.ts';

/** What a person decided when the team was asked. */
export interface Decision {
  readonly approved: boolean;
  readonly by: Actor;
  readonly note: string | null;
  readonly at: string;
}

/** Masks contact details in a text, if its reader may not see them. */
export type Mask = (text: string) => string;

export const actorJson = ({ type, name }: Actor, mask: Mask) => ({ type, name: mask(name) });

export const decisionJson = ({ approved, by, note, at }: Decision, mask: Mask) => ({
  approved,
  by: actorJson(by, mask),
  note: note === null ? null : mask(note),
  at,
});
