#!/bin/sh
# A convenience: makes the secrets that compose.yaml needs, in .env beside it, on the first run (keep a copy of
# that file in a safe place), then builds and starts everything. DOMAIN in .env adds https, WITHOUT_N8N=1
# leaves n8n out, and with SERVICE_IMAGE nothing is built. Run it again after an update; arguments go to
# `docker compose up`.
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
touch .env
chmod 600 .env
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
value() { sed -n "s/^$1=//p" .env | tail -n 1; }
domain=$(value DOMAIN)
profiles=
if [ -n "$domain" ]; then profiles="$profiles --profile https"; fi
if [ -z "$(value WITHOUT_N8N)" ]; then profiles="$profiles --profile n8n"; fi
images=--build
if [ -n "$(value SERVICE_IMAGE)" ]; then images=--no-build; fi
# shellcheck disable=SC2086 -- each profile is a word of its own
docker compose $profiles up $images --detach --wait "$@"

url=$(value PUBLIC_URL)
if [ -z "$url" ] && [ -n "$domain" ]; then url=https://$domain; fi
cat <<TEXT

Conversation Service: ${url:-http://localhost:3000}   (sign in with BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD of .env)
TEXT
if [ -n "$(value WITHOUT_N8N)" ]; then exit; fi
cat <<TEXT
n8n:                  http://localhost:5678
In n8n make a credential "Conversation Service API": Base URL http://proxy:8080, API Key BOOTSTRAP_API_KEY of .env.
TEXT
