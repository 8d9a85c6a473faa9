import type { RequestHandler } from 'express';
import { sendErrorPage } from '../../platform/html/errorPage.ts';
import { showOnlyPermitted } from '../../platform/html/permitted.ts';
import { signedInOf } from '../../team/signedIn.ts';
import { isOwner } from '../../team/workspace.ts';

/**
 * All routes to which a member may post, as they are registered. Every other POST is for owners
 * only, and so is that of a new route until it is added here.
 */
const MEMBERS_POSTS = [
  '/conversations/:id/reply',
  '/conversations/:id/messages/:messageId/retry',
  '/conversations/:id/note',
  '/conversations/:id/assign',
  '/conversations/:id/stage',
  '/conversations/:id/take-over',
  '/conversations/:id/hand-back',
  '/conversations/:id/close',
  '/conversations/:id/contact',
  '/conversations/:id/presence',
  '/conversations/:id/payment-link',
  '/conversations/:id/payments/:paymentId/send',
  '/conversations/:id/payments/:paymentId/cancel',
  '/conversations/:id/payments/:paymentId/mark-paid',
  '/payments/links/:id/cancel',
  '/payments/links/:id/mark-paid',
  '/conversations/:id/tool-calls/:callId/decide',
  '/conversations/:id/waits/:waitId/decide',
  '/conversations/:id/waits/:waitId/cancel',
  '/waiting/tool-calls/:id/decide',
  '/waiting/waits/:id/decide',
  '/waits/:id/decide',
  '/settings/canned-replies',
  '/settings/canned-replies/:id',
  '/settings/canned-replies/:id/remove',
  // Who invites whom is checked with the invitation.
  '/team/invites',
  '/team/invites/:id/revoke',
  '/account/profile',
  '/account/password',
  '/sign-out',
  '/sign-out-everywhere',
].map(patternOf);

/** Pages that are one form, with which an owner connects something or defines it. */
const OWNERS_PAGES = [
  '/tools/new',
  '/tools/:id/edit',
  '/channels/new',
  '/payments/providers/:provider',
  '/keys/:id/edit',
  '/keys/subscriptions/:id/recover',
].map(patternOf);

/** Matches the paths of a route, in lower case: Express matches without regard to case. */
function patternOf(route: string): RegExp {
  return new RegExp(`^${route.toLowerCase().replace(/:\w+/g, '[^/]+')}$`);
}

/** @param memberId of a member who is no owner */
function mayMember(memberId: string, method: string, address: string): boolean {
  const path = address
    .replace(/[?#].*$/s, '')
    .replace(/(?!^)\/$/, '')
    .toLowerCase();
  const isOneOf = (patterns: readonly RegExp[]) => patterns.some((each) => each.test(path));
  if (/^(get|head)$/i.test(method)) return !isOneOf(OWNERS_PAGES);
  const isLeaving = path === `/team/members/${memberId.toLowerCase()}/remove`;
  return isLeaving || isOneOf(MEMBERS_POSTS);
}

/**
 * Refuses members what only owners may do, and hides the forms and links for it. Use it only after
 * requireMember.
 */
export const ownersOnly: RequestHandler = (request, response, next) => {
  const { member } = signedInOf(response);
  if (isOwner(member)) return next();
  const may = (method: string, address: string) => mayMember(member.id, method, address);
  showOnlyPermitted(response, may);
  if (may(request.method, `${request.baseUrl}${request.path}`)) return next();
  sendErrorPage(
    response,
    403,
    'Only an owner can do this. Ask an owner of your workspace; Team shows who that is.',
  );
};
