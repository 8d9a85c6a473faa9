import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { Tool } from '../../domain/tool.ts';
import { html, type View } from '../html.ts';
import { teamPage } from '../layout.ts';

/** A Webhook tool's signing secret, shown this once, and what its receiver does with it. */
export const secretPage = (
  signedIn: SignedIn,
  tool: Tool,
  secret: string,
  why: 'created' | 'rotated',
): View =>
  teamPage(
    signedIn,
    { title: 'Signing secret', section: 'tools' },
    html`
      <h1>${why === 'created' ? `${tool.name} is created` : `${tool.name} has a new signing secret`}</h1>
      <article data-shown-once>
        <p>This is its signing secret. It is shown this once; copy it now:</p>
        <p><code id="secret">${secret}</code> <button class="small" type="button" data-copy="#secret">Copy</button></p>
        ${why === 'rotated' ? html`<p>It signs from now on, alone: give it to the endpoint before the next call.</p>` : null}
      </article>
      <h2>How the endpoint verifies a call</h2>
      <ol>
        <li>Take the body’s raw bytes, before anything parses them.</li>
        <li>Read <code>t</code> and each <code>v1</code> of the header <code>X-Service-Signature: t=…,v1=…</code>, and refuse a <code>t</code> more than 300 seconds away from your clock.</li>
        <li>Compute the hex HMAC-SHA256 over <code>t</code>, a dot and the body. The key is the whole secret as text, <code>whsec_</code> included.</li>
        <li>Compare in constant time; refuse everything else with 401.</li>
      </ol>
      <p class="muted">The README has working code under “Verifying signatures”. In n8n, the Conversation Service Tool Trigger defines its tool and verifies by itself.</p>
      <p><a role="button" href=${`/tools/${tool.id}`}>Go on to the tool</a></p>
    `,
  );
