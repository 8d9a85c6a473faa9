#!/bin/sh
# Run once by the image of PostgreSQL, on an empty data folder: a role and a database for each of the
# two that share the server. Neither can open the other's.
set -eu
psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  -v service_password="$SERVICE_POSTGRES_PASSWORD" -v n8n_password="$N8N_POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE conversation_service LOGIN PASSWORD :'service_password';
CREATE DATABASE conversation_service OWNER conversation_service;
REVOKE ALL ON DATABASE conversation_service FROM PUBLIC;
CREATE ROLE n8n LOGIN PASSWORD :'n8n_password';
CREATE DATABASE n8n OWNER n8n;
REVOKE ALL ON DATABASE n8n FROM PUBLIC;
SQL
