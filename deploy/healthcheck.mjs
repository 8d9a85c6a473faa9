// The image's health check: exits 0 while /readyz answers 200, and otherwise prints why not.
const { HOST = '127.0.0.1' } = process.env;
// Empty is not set, as for the service.
const PORT = process.env.PORT || '3000';
const host = ['0.0.0.0', '::', ''].includes(HOST) ? '127.0.0.1' : HOST;
try {
  const answer = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${PORT}/readyz`, {
    signal: AbortSignal.timeout(5000),
  });
  if (!answer.ok) {
    console.log(await answer.text());
    process.exitCode = 1;
  }
} catch (error) {
  console.log(`/readyz cannot be read: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
