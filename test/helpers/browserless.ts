// A browser without JavaScript, as small as forms and links need it: keeps cookies, follows
// redirects, posts forms.

/** Variables that make the first team member on an empty store. */
export const MEMBER = { email: 'ana@example.com', password: 'correct horse battery' };
export const MEMBER_ENV = {
  BOOTSTRAP_ADMIN_EMAIL: MEMBER.email,
  BOOTSTRAP_ADMIN_PASSWORD: MEMBER.password,
};

/** A page as answered, after redirects. */
export interface Page {
  readonly status: number;
  /** The path it was found at, without the host: `/keys?notice=revoked`. */
  readonly path: string;
  readonly headers: Headers;
  readonly html: string;
  /** The text of its body as a reader sees it, with single spaces. */
  readonly text: string;
  /** The error shown beside the field; null when there is none. */
  problem(field: string): string | null;
  /** The value that a field was sent with. */
  value(field: string): string | null;
}

export interface Browserless {
  /** The Cookie header it sends, for requests that are not for a page (`/live`). */
  readonly cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Page>;
  /** @param options.csrf the token to send; default: the last page's; null: none */
  post(
    path: string,
    values?: Record<string, string>,
    options?: { csrf?: string | null; headers?: Record<string, string> },
  ): Promise<Page>;
}

const MAX_REDIRECTS = 5;

export function browserless(url: string): Browserless {
  const cookies = new Map<string, string>();
  let csrf: string | null = null;

  const cookieHeader = () => [...cookies].map((pair) => pair.join('=')).join('; ');
  const send = async (path: string, init: RequestInit, redirects = 0): Promise<Page> => {
    const headers = {
      ...(init.headers as Record<string, string> | undefined),
      cookie: cookieHeader(),
    };
    const answer = await fetch(new URL(path, url), { ...init, headers, redirect: 'manual' });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      await answer.body?.cancel();
      if (redirects === MAX_REDIRECTS)
        throw new Error(`too many redirects, the last to ${location}`);
      return send(location, {}, redirects + 1);
    }
    const html = await answer.text();
    csrf = attributeOf(html, 'input', 'csrf') ?? csrf;
    return pageOf(answer, path, html);
  };

  return {
    get cookie() {
      return cookieHeader();
    },
    get: (path, headers = {}) => send(path, { headers }),
    post(path, values = {}, options = {}) {
      const token = options.csrf === undefined ? csrf : options.csrf;
      const body = new URLSearchParams({ ...(token === null ? {} : { csrf: token }), ...values });
      return send(path, { method: 'POST', body, headers: options.headers ?? {} });
    },
  };
}

/** A browser in which the bootstrap member is signed in. */
export async function signedInBrowser(
  url: string,
  { email, password } = MEMBER,
): Promise<Browserless> {
  const browser = browserless(url);
  const { path, text } = await browser.post('/sign-in', { email, password, next: '/account' });
  if (path !== '/account') throw new Error(`not signed in: ${text}`);
  return browser;
}

const pageOf = ({ status, headers }: Response, path: string, html: string): Page => ({
  status,
  path,
  headers,
  html,
  text: textOf(/<body[^>]*>(.*)<\/body>/s.exec(html)?.[1] ?? html),
  problem(field) {
    const found = new RegExp(`<small id="p-${field}"[^>]*>(.*?)</small>`, 's').exec(html);
    return found === null ? null : textOf(found[1]!);
  },
  value: (field) => attributeOf(html, 'input', field),
});

/** The value of a field, found by its name. */
function attributeOf(html: string, tag: string, name: string): string | null {
  const element = [...html.matchAll(new RegExp(`<${tag}( [\\w-]+(="[^"]*")?)*`, 'g'))]
    .map(([each]) => each)
    .find((each) => each.includes(` name="${name}"`));
  const value = element === undefined ? null : / value="([^"]*)"/.exec(element);
  return value === null ? null : decoded(value[1]!);
}

const textOf = (html: string): string =>
  decoded(html.replace(/<wbr[^>]*>/g, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};
/** HTML's text with its entities replaced. */
export const decoded = (text: string): string =>
  text.replace(/&(lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity]!);
