import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * The headers of every answer. Headers about TLS are left to the proxy that has the certificate.
 */
export const commonHeaders = (): RequestHandler =>
  helmet({
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
    strictTransportSecurity: false,
  });

/** Scripts and styles come from this service only, and none are inline. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
};

/**
 * The headers of a page, in place of the common ones.
 * @param frameAncestors the origins whose pages may show this page in a frame; none by default
 */
export const pageHeaders = (frameAncestors: readonly string[] = []): RequestHandler => {
  const ancestors =
    frameAncestors.length === 0 ? "'none'" : ["'self'", ...frameAncestors].join(' ');
  const policy = Object.entries({ ...POLICY, 'frame-ancestors': ancestors }).map(
    ([name, value]) => `${name} ${value}`,
  );
  return (_request, response, next) => {
    response
      .set('Content-Security-Policy', policy.join('; '))
      .set('Referrer-Policy', 'same-origin')
      .set('Cache-Control', 'no-store');
    if (frameAncestors.length === 0) response.set('X-Frame-Options', 'DENY');
    else response.removeHeader('X-Frame-Options');
    next();
  };
};
