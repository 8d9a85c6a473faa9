// Receives events and verifies their signatures. Node 20 or newer, nothing to install:
//   WEBHOOK_SECRETS=whsec_… PORT=8091 node receiver.mjs
import { createServer } from 'node:http';
import { isGenuine } from './verify.mjs';

const secrets = (process.env.WEBHOOK_SECRETS ?? '').split(',').filter(Boolean);
if (secrets.length === 0)
  throw new Error(
    'Set WEBHOOK_SECRETS to the secret of your subscription (several: separated by commas).',
  );
const MAX_BODY_BYTES = 1024 * 1024;
/** Events that were handled. A real receiver keeps them in its database. */
const handled = new Set();

function handle({ event, id, conversation }) {
  console.log(`${event} ${id} in ${conversation.id} (${conversation.status})`);
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const server = createServer(async (request, response) => {
  const answer = (status) => response.writeHead(status).end();
  try {
    if (request.method !== 'POST') return answer(405);
    const body = await readBody(request);
    if (body === null) return answer(413);
    const signature = request.headers['x-service-signature'];
    if (!secrets.some((secret) => isGenuine(signature, body, secret))) return answer(401);

    const payload = JSON.parse(body.toString('utf8'));
    const isRepeat =
      handled.has(payload.id) && request.headers['x-service-redelivery'] !== 'manual';
    if (!isRepeat) handle(payload);
    handled.add(payload.id); // only now: had handle() failed, the 500 below asks for a retry
    answer(204);
  } catch (error) {
    console.error(error);
    if (!response.headersSent) answer(500);
  }
});
server.listen(Number(process.env.PORT ?? 8091), '127.0.0.1', () =>
  console.log(`listening on port ${server.address().port}`),
);
