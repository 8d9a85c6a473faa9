#!/bin/sh
# Builds and starts everything in compose.yaml. The first run makes the secrets, in .env beside it: keep a
# copy of that file in a safe place. Run it again after an update; arguments go to `docker compose up`.
set -eu
cd "$(dirname "$0")/.."
umask 077

if ! [ -e .env ] && docker volume inspect conversation-service_postgres >/dev/null 2>&1; then
  echo 'There is a database already, but no .env with its passwords and its ENCRYPTION_KEY. Put the copy of .env back.' >&2
  echo '(To begin anew, without anything that is stored: docker compose down --volumes with any .env, then this command.)' >&2
  exit 1
fi

letters() { LC_ALL=C tr -dc 'A-Za-z0-9' </dev/urandom | head -c 32; }
# Sets what has no value yet.
put() {
  if ! grep -q "^$1=." .env 2>/dev/null; then printf '%s=%s\n' "$1" "$2" >>.env; fi
}
if [ -s .env ] && [ -n "$(tail -c 1 .env)" ]; then echo >>.env; fi
put ENCRYPTION_KEY "$(head -c 32 /dev/urandom | base64)"
put POSTGRES_PASSWORD "$(letters)"
put SERVICE_POSTGRES_PASSWORD "$(letters)"
put N8N_POSTGRES_PASSWORD "$(letters)"
put N8N_ENCRYPTION_KEY "$(letters)"
put METRICS_TOKEN "$(letters)"
put BOOTSTRAP_ADMIN_EMAIL admin@example.com
put BOOTSTRAP_ADMIN_PASSWORD "$(letters)"
put BOOTSTRAP_API_KEY "cs_live_$(letters)"

# The database's user reads it, whatever the umask of the checkout.
chmod a+rx deploy/postgres-init.sh
docker compose up --build --detach --wait "$@"

value() { sed -n "s/^$1=//p" .env | tail -n 1; }
url=$(value PUBLIC_URL)
cat <<TEXT

Conversation Service: ${url:-http://localhost:3000}   (sign in with BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD of .env)
n8n:                  http://localhost:5678
In n8n make a credential "Conversation Service API": Base URL http://proxy:8080, API Key BOOTSTRAP_API_KEY of .env.
TEXT
