import type { Attempt, Delivery } from '../../delivery.ts';
import { requestHeaders } from '../../request.ts';
import { durationInWords } from '../../../platform/html/components.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { secondTimeView } from '../../../platform/html/times.ts';

const TRIGGER_WORDS: Readonly<Record<Attempt['trigger'], string>> = {
  automatic: 'automatic',
  manual: 'manual',
  catch_up: 'after an outage',
};

/** How request headers are shown. With a whole signature, a reader could send the request again. */
type ShownHeaders = 'none' | 'without-signatures' | 'whole';

/** Every attempt of a delivery: what was sent, and what came back. */
export const attemptsList = (delivery: Delivery, headers: ShownHeaders = 'none'): View =>
  delivery.attempts.length === 0
    ? html`<p>No attempts yet.</p>`
    : html`
        <ol class="bare attempts">
          ${delivery.attempts.map((attempt) => attemptItem(delivery, attempt, headers))}
        </ol>
      `;

const attemptItem = (delivery: Delivery, attempt: Attempt, headers: ShownHeaders): View => {
  const { number, at, statusCode, durationMs, error, responseExcerpt, trigger } = attempt;
  return html`
    <li>
      <p>
        <strong>${statusCode === null ? 'No response' : `Status ${statusCode}`}</strong>${' '}
        <span class="muted">
          attempt ${number}, ${secondTimeView(at)}, took ${durationInWords(durationMs)}, ${
            TRIGGER_WORDS[trigger]
          }
        </span>
      </p>
      ${
        error === null || error === `The receiver answered ${statusCode}.`
          ? null
          : html`<p><bdi>${error}</bdi></p>`
      }
      ${headers === 'none' ? null : headersView(delivery, attempt, headers)}
      ${
        responseExcerpt === null
          ? null
          : html`
              <pre
                id=${`answer-${delivery.id}-${number}`}
                dir="auto"
                tabindex="0"
                role="group"
                aria-label=${`Response to attempt ${number}`}
              >
                ${responseExcerpt}
              </pre>
            `
      }
    </li>
  `;
};

const ONLY_FOR_OWNERS = '[an owner can see the signature]';
const WITHHELD_SIGNATURES = {
  'x-service-signature': ONLY_FOR_OWNERS,
  'webhook-signature': ONLY_FOR_OWNERS,
};

/** The headers as they were sent. The secret is in none of them. */
function headersView(
  { event, eventId }: Delivery,
  { number, request }: Attempt,
  shown: ShownHeaders,
): View {
  if (request === undefined) return null;
  const sent = requestHeaders({ id: eventId, name: event }, request);
  const headers = Object.entries(shown === 'whole' ? sent : { ...sent, ...WITHHELD_SIGNATURES });
  return html`
    <details id=${`headers-${number}`}>
      <summary>Request headers</summary>
      <pre tabindex="0" role="group" aria-label=${`Request headers of attempt ${number}`}>
        ${headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
      </pre>
    </details>
  `;
}
