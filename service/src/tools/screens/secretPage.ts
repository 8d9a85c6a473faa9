import type { SignedIn } from '../../team/index.ts';
import type { Tool } from '../tool.ts';
import { shownOnce } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';

/** A Webhook tool's signing secret, and how its endpoint uses it. */
export const secretPage = (
  signedIn: SignedIn,
  { id, name }: Tool,
  secret: string,
  why: 'created' | 'rotated',
): View =>
  teamPage(
    signedIn,
    { title: 'Signing secret', section: 'tools' },
    html`
      <h1>${why === 'created' ? `${name} created` : `New signing secret for ${name}`}</h1>
      ${shownOnce(
        'Signing secret',
        why === 'created'
          ? 'The endpoint uses it to verify calls.'
          : 'The previous secret no longer works. Update the endpoint before the next call.',
        secret,
        null,
      )}
      <h2>How the endpoint verifies a call</h2>
      <ol>
        <li>Read the raw bytes of the body before you parse them.</li>
        <li>Read <code>t</code> and each <code>v1</code> from the header <code>X-Service-Signature: t=…,v1=…</code>. Refuse a <code>t</code> that is more than 300 seconds from your clock.</li>
        <li>Compute the hex HMAC-SHA256 of <code>t</code>, a dot and the body. The key is the whole secret as text, including <code>whsec_</code>.</li>
        <li>Compare in constant time, and refuse everything else with 401.</li>
      </ol>
      <p class="muted">Working code is in docs/events-and-signatures.md, “Verifying signatures”. In n8n, the Conversation Service Agent Call Trigger verifies calls by itself.</p>
      <p><a role="button" href=${`/tools/${id}`}>Go to the tool</a></p>
    `,
  );
