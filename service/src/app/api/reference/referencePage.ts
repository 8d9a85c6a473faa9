import { assetUrl } from '../../../platform/html/assets.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { mark } from '../../../platform/html/icons.ts';
import { endpointsOf, eventsOf, type Endpoint, type OpenApiDocument } from './document.ts';
import { endpointView } from './endpointView.ts';
import { fieldsView, prose } from './schemaView.ts';

const ROOT = '/api/docs';

interface Part {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
}

const EVENTS = 'What the service POSTs to your address when something happens, signed.';
const OBJECTS = 'What answers and events are made of.';

const partsOf = (document: OpenApiDocument): readonly Part[] => [
  ...document.tags.map(({ name, description }) => ({
    slug: name.toLowerCase(),
    title: name,
    description: `${description}.`,
    endpoints: endpointsOf(document, name),
  })),
  { slug: 'events', title: 'Events', description: EVENTS, endpoints: eventsOf(document) },
];

/**
 * A page of the reference, made from the OpenAPI document.
 * @param slug a tag in lower case, `events`, `objects`; empty for the list of all endpoints
 * @returns null when there is no such page
 */
export function referencePage(document: OpenApiDocument, slug: string): View {
  const parts = partsOf(document);
  if (slug === '') return pageOf(document, slug, 'API reference', indexView(document, parts));
  if (slug === 'objects') return pageOf(document, slug, 'Objects', objectsView(document));
  const part = parts.find((each) => each.slug === slug);
  return part === undefined ? null : pageOf(document, slug, part.title, partView(part));
}

const pageOf = (
  document: OpenApiDocument,
  slug: string,
  title: string,
  content: View,
): View => html`
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>${title} · ${document.info.title} API</title>
      <link rel="icon" type="image/svg+xml" href=${assetUrl('mark.svg')} />
      <link rel="stylesheet" href=${assetUrl('reference.css')} />
    </head>
    <body class="reference">
      <a class="skip" href="#main">Skip to content</a>
      <header class="reference-side">
        <a class="brand" href=${ROOT}>${mark(28)}<span>${document.info.title} API</span></a>
        <nav aria-label="API reference">
          <ul>
            ${[...partsOf(document), { slug: 'objects', title: 'Objects' }].map(
              (each) => html`
                <li>
                  <a
                    href=${`${ROOT}/${each.slug}`}
                    aria-current=${each.slug === slug ? 'page' : null}
                  >
                    ${each.title}
                  </a>
                </li>
              `,
            )}
          </ul>
        </nav>
      </header>
      <main id="main" tabindex="-1">
        <h1>${title}</h1>
        ${content}
      </main>
    </body>
  </html>
`;

const endpointItem = (
  slug: string,
  { method, path, operation: { operationId, summary } }: Endpoint,
): View => html`
  <li>
    <a href=${`${ROOT}/${slug}#${operationId}`}>${summary}</a> <span class="address">
      ${method === null ? null : html`<b class="method">${method}</b>`} <code>${path}</code>
    </span>
  </li>
`;

const indexView = ({ info, servers }: OpenApiDocument, parts: readonly Part[]): View => html`
  <p>${prose(info.description)}</p>
  <p>Version ${info.version}, at <code>${servers[0]!.url}</code>. The same as an OpenAPI 3.1 document, for programs: <a href="/api/openapi.json">openapi.json</a>.</p>
  ${parts.map(
    ({ slug, title, description, endpoints }) => html`
      <section aria-labelledby=${`part-${slug}`}>
        <h2 id=${`part-${slug}`}><a href=${`${ROOT}/${slug}`}>${title}</a></h2>
        <p>${description}</p>
        <ul class="bare endpoints">
          ${endpoints.map((endpoint) => endpointItem(slug, endpoint))}
        </ul>
      </section>
    `,
  )}
`;

const partView = ({ description, endpoints }: Part): View => html`
  <p>${description}</p>
  <ul class="bare endpoints">
    ${endpoints.map(
      ({ operation: { operationId, summary } }) =>
        html`<li><a href=${`#${operationId}`}>${summary}</a></li>`,
    )}
  </ul>
  ${endpoints.map(endpointView)}
`;

const objectsView = ({ components: { schemas } }: OpenApiDocument): View => html`
  <p>${OBJECTS}</p>
  ${Object.entries(schemas)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([name, schema]) => html`
        <section class="endpoint" aria-labelledby=${name}>
          <h2 id=${name}>${name}</h2>
          ${schema.description === undefined ? null : html`<p>${prose(schema.description)}</p>`}
          ${fieldsView(schema)}
        </section>
      `,
    )}
`;
