# The service's image; `--target n8n` makes n8n's, with our package in it. compose.yaml uses both.
# test/deploy runs the COPY and RUN lines of this file in plain folders: paths in RUN are relative to WORKDIR.
# Images stand in FROM itself, where Dependabot finds them.
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS base

FROM base AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY service/package.json service/
COPY test/package.json test/
RUN npm ci --workspace service --include-workspace-root --no-audit --no-fund
COPY . .
# Whatever the umask of the checkout: others than its owner run this.
RUN chmod -R a+rX package.json README.md LICENSE service deploy nodes credentials examples && node scripts/build.mjs

FROM base AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY service/package.json service/
COPY test/package.json test/
RUN npm ci --workspace service --omit=dev --no-audit --no-fund

FROM n8nio/n8n:2.41.1 AS n8n
COPY --from=build /app/package.json /app/README.md /app/LICENSE /opt/n8n-nodes-conversation-service/
COPY --from=build /app/dist/nodes /opt/n8n-nodes-conversation-service/dist/nodes
COPY --from=build /app/dist/credentials /opt/n8n-nodes-conversation-service/dist/credentials
COPY --from=build /app/deploy/n8n-start.sh /opt/
ENTRYPOINT ["tini", "--", "sh", "/opt/n8n-start.sh"]

# The last stage is what `docker build .` makes.
FROM base AS service
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
# With what npm could not share, in a node_modules of its own.
COPY --from=dependencies /app/service ./service
COPY --from=build /app/service/package.json ./service/
COPY --from=build /app/service/dist ./service/dist
COPY --from=build /app/LICENSE /app/deploy/healthcheck.mjs ./
# The program belongs to root and cannot change itself; 1000 is the image's user `node`.
RUN mkdir ../data && chown 1000:1000 ../data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["node", "/app/healthcheck.mjs"]
ENTRYPOINT ["node", "/app/service/dist/main.js"]
CMD ["start"]
