#!/bin/sh
# Puts the package where n8n looks for community packages, as this image has it, then starts n8n.
# The folder is a volume: what an earlier image put there is replaced at each start.
set -eu
modules="${N8N_USER_FOLDER:-$HOME}/.n8n/nodes/node_modules"
mkdir -p "$modules"
rm -rf "$modules/n8n-nodes-conversation-service"
cp -R "${PACKAGE_FOLDER:-/opt/n8n-nodes-conversation-service}" "$modules/n8n-nodes-conversation-service"
exec "${N8N_ENTRYPOINT:-/docker-entrypoint.sh}" "$@"
