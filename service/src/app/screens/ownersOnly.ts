import type { RequestHandler } from 'express';
import { sendErrorPage } from '../../platform/html/errorPage.ts';
import { showOnly } from '../../platform/html/permitted.ts';
import { signedInOf } from '../../team/signedIn.ts';
import { isOwner } from '../../team/workspace.ts';

/**
 * What a member may not change. All of it unless it is named below: a route that somebody adds is an
 * owner's until they say otherwise.
 */
const OWNERS_AREAS =
  /^\/(overview|tools|agent|channels|payments\/providers|keys|team|settings|examples)(\/|$)/;

/** In these areas, what a member may change too. Who invites whom is checked with the invitation. */
const MEMBERS_TOO = [
  /^\/settings\/canned-replies(\/|$)/,
  /^\/team\/invites$/,
  /^\/team\/invites\/[^/]+\/revoke$/,
];

/** Pages that are one form, with which an owner connects something or defines it. */
const OWNERS_PAGES =
  /^\/(tools\/new|tools\/[^/]+\/edit|channels\/new|payments\/providers\/[^/]+|keys\/[^/]+\/edit)$/;

/** @param memberId of a member who is no owner */
function mayMember(memberId: string, method: string, address: string): boolean {
  // Express matches paths without regard to case.
  const path = address
    .replace(/[?#].*$/s, '')
    .replace(/(?!^)\/$/, '')
    .toLowerCase();
  if (/^(get|head)$/i.test(method)) return !OWNERS_PAGES.test(path);
  if (path === `/team/members/${memberId.toLowerCase()}/remove`) return true; // leaving
  return !OWNERS_AREAS.test(path) || MEMBERS_TOO.some((allowed) => allowed.test(path));
}

/**
 * Refuses members what only owners may do, and shows them neither its forms nor its links. Use it
 * only after requireMember.
 */
export const ownersOnly: RequestHandler = (request, response, next) => {
  const { member } = signedInOf(response);
  if (isOwner(member)) return next();
  const may = (method: string, address: string) => mayMember(member.id, method, address);
  showOnly(response, may);
  if (may(request.method, `${request.baseUrl}${request.path}`)) return next();
  sendErrorPage(
    response,
    403,
    'Only an owner can do this. Ask an owner of your workspace; Team shows who that is.',
  );
};
