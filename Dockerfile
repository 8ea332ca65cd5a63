# crm-sync in a container: `docker build -t crm-sync .`; docs/how-to/containers.md says how it is run. The image of a release is
# made by scripts/image.sh, which names the digest of the image that it is made from.
ARG NODE_IMAGE=node:26-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build -- --alone
WORKDIR /app
RUN cp /build/package.json /build/package-lock.json /build/.npmrc . \
  && npm ci --omit=dev --omit=optional \
  && cp -R /build/bin /build/dist /build/config /build/docs . \
  && rm -f .npmrc package-lock.json

FROM ${NODE_IMAGE}
RUN mkdir --mode=0700 /var/lib/crm-sync && chown 10001:10001 /var/lib/crm-sync \
  && ln -s /app/bin/crm-sync /usr/local/bin/crm-sync
# The program belongs to root, so that whoever runs it cannot change it.
COPY --from=build /app /app
ENV CRM_SYNC_CONFIG=/etc/crm-sync/crm-sync.yaml \
  CRM_SYNC__ledger__path=/var/lib/crm-sync/ledger.db
USER 10001:10001
WORKDIR /var/lib/crm-sync
# All that is written, but for /tmp: the root file system may be read-only.
VOLUME /var/lib/crm-sync
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/bin/crm-sync"]
CMD ["serve"]
