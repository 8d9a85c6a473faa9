import express, { Router } from 'express';
import { z } from 'zod';
import { textSchema } from '../contract/shared.ts';

/** The one-time link of the first start. */
export interface Setup {
  isValid(token: string): boolean;
  /** @returns the first API key, or null when the link was used already */
  complete(
    token: string,
    setup: { workspaceName: string; memberName: string; email: string; password: string },
  ): Promise<string | null>;
}

const PASSWORD_MIN = 10;

const formSchema = z.object({
  token: z.string(),
  workspace: textSchema(100),
  name: textSchema(100),
  email: z.email('must be an e-mail address').max(254),
  password: z.string().min(PASSWORD_MIN, `must have at least ${PASSWORD_MIN} characters`).max(200, 'must have at most 200 characters'),
});

/** A plain page that makes the first team member, workspace and API key. Works once, without any script. */
export function setupRouter(setup: Setup): Router {
  const router = Router();

  router.get('/', (_request, response) => void response.type('html').send(page('Conversation Service', '<p>The service is running.</p><p><a href="/api/docs">API documentation</a></p>')));

  router.get('/setup', (request, response) => {
    response.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer');
    const token = typeof request.query.token === 'string' ? request.query.token : '';
    if (setup.isValid(token)) response.type('html').send(form(token, {}));
    else response.status(404).type('html').send(usedUp);
  });

  router.post('/setup', express.urlencoded({ extended: false, limit: '16kb' }), async (request, response) => {
    response.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer');
    const sent = onlyTexts(request.body);
    if (!setup.isValid(sent.token ?? '')) return void response.status(404).type('html').send(usedUp);
    const parsed = formSchema.safeParse(sent);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      return void response.status(400).type('html').send(form(sent.token!, sent, `${String(issue.path[0])} ${sent[String(issue.path[0])] === undefined ? 'is missing' : issue.message}.`));
    }
    const { token, workspace, name, email, password } = parsed.data;
    const key = await setup.complete(token, { workspaceName: workspace, memberName: name, email, password });
    if (key === null) response.status(404).type('html').send(usedUp);
    else response.status(201).type('html').send(done(key));
  });

  return router;
}

/** A field that came twice is an array, and no field of this form. */
const onlyTexts = (body: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(body ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

const escape = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const page = (title: string, content: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}label{display:block;margin:.8rem 0}input{display:block;width:100%;box-sizing:border-box;padding:.5rem;font:inherit}button{padding:.6rem 1.2rem;font:inherit}code{overflow-wrap:anywhere}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;

const usedUp = page(
  'This link does not work',
  '<p>The set-up link works once, and only the one that the latest start printed. If the service has not been set up yet, start it again and use the link that it prints; to make another key, stop the service and run <code>npm run key -- create --name n8n</code>.</p>',
);

const field = (name: string, label: string, value: string, attributes: string) =>
  `<label>${label}<input name="${name}" value="${escape(value)}" required ${attributes}></label>`;

const form = (token: string, values: Record<string, string>, problem?: string) =>
  page(
    'Set up Conversation Service',
    `${problem === undefined ? '' : `<p role="alert"><strong>${escape(problem)}</strong></p>`}
<form method="post" action="/setup" autocomplete="off">
<input type="hidden" name="token" value="${escape(token)}">
${field('workspace', 'Name of the workspace', values.workspace ?? '', 'maxlength="100" autofocus')}
${field('name', 'Your name', values.name ?? '', 'maxlength="100"')}
${field('email', 'Your e-mail', values.email ?? '', 'type="email" maxlength="254"')}
${field('password', `A password (at least ${PASSWORD_MIN} characters)`, '', `type="password" minlength="${PASSWORD_MIN}" maxlength="200" autocomplete="new-password"`)}
<button>Set up and show the API key</button>
</form>`,
  );

const done = (key: string) =>
  page(
    'Ready',
    `<p>This is the API key for n8n. It is shown this once; copy it now:</p><p><code>${escape(key)}</code></p><p>In n8n, make a credential “Conversation Service API” with this key and the address of this page's host.</p><p><a href="/api/docs">API documentation</a></p>`,
  );
