import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authority, type Certificate } from "../../support/authority.ts";
import { startPostgres } from "../../support/postgres.ts";
import { readAll } from "../support.ts";
import { sourceOf, type TestDatabase } from "./database.ts";

/** A server that can be reached as localhost, and by the address 127.0.0.1. */
interface TlsServer {
  /** A source of it that reads one row, which says how the connection is encrypted. */
  database: TestDatabase;
  query: string;
  /** Offers TLS with this certificate, or none. */
  offer: (certificate: Certificate | undefined) => Promise<void>;
  stop: () => Promise<void>;
}

const own = new Authority("own");
const other = new Authority("other");
afterAll(() => {
  own.remove();
  other.remove();
});

verified("PostgreSQL", async () => {
  const server = await startPostgres();
  await server.run("postgres", "create role reader login password 'reader-password'");
  return {
    database: databaseOf({ port: server.port, database: "postgres" }),
    query: "select 1 as id, version as name from pg_stat_ssl where pid = pg_backend_pid()",
    offer: server.offerTls,
    stop: server.stop,
  };
});

function databaseOf(where: Record<string, unknown>): TestDatabase {
  const connection = {
    kind: "postgres",
    host: "localhost",
    user: "reader",
    password: "env:ERP_PASSWORD",
    ca: "ca.pem",
    ...where,
  };
  const types = { big: "", moment: "", local: "", json: "", double: "" };
  const nothing = { run: () => Promise.resolve(), connections: () => Promise.resolve(0) };
  return { connection, secret: "reader-password", types, ...nothing };
}

function verified(what: string, start: () => Promise<TlsServer>): void {
  describe(`a source in ${what} over TLS`, () => {
    let server: TlsServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.stop());

    /** What came of a reading: how its connection was encrypted, or why there was none. */
    async function reading(settings: Record<string, unknown> = {}, authority = own.pem): Promise<unknown> {
      const { database, query } = server;
      const given = { ...database, connection: { ...database.connection, ...settings } };
      const files = { "ca.pem": authority };
      const placeOf = (key: string): string => `crm-sync.yaml (${key})`;
      const source = sourceOf(given, { customers: { query, key: "id" } }, {}, { files, placeOf });
      const { raws, outcome } = await readAll(source, "customers");
      if (outcome.problem === undefined) return raws.map(({ value }) => value["name"]);
      expect([raws, outcome.rows, outcome.complete]).toEqual([[], 0, false]);
      const { code, message, cure, place } = outcome.problem;
      expect([code, place]).toEqual(["source.down", "crm-sync.yaml (sources.crm.connection)"]);
      expect(message).toContain("the source crm");
      return `${message} ${cure}`;
    }

    it(
      "is read where the certificate is of the authority and bears the name of the host",
      { tags: "long" },
      async () => {
        await server.offer(own.certificate("DNS:localhost"));
        expect(await reading()).toEqual([expect.stringMatching(/^TLSv1\.[23]$/u)]);
      },
    );

    it(
      "is read by another way than the name that the certificate bears, where that name is written",
      { tags: "long" },
      async () => {
        await server.offer(own.certificate("DNS:erp-db.internal"));
        expect(await reading({ serverName: "erp-db.internal" })).toHaveLength(1);
        expect(await reading({ host: "127.0.0.1", serverName: "erp-db.internal" })).toHaveLength(1);
        expect(await reading({ host: "127.0.0.1", serverName: "localhost" })).toContain("has another name");
      },
    );

    it(
      "is not read where another authority signed, and it is said which setting names the right one",
      { tags: "long" },
      async () => {
        await server.offer(other.certificate("DNS:localhost"));
        expect(await reading()).toEqual(
          expect.stringMatching(/comes from an authority that is not trusted .*`connection\.ca`/u),
        );
        await server.offer(own.certificate("DNS:localhost"));
        expect(await reading({ ca: undefined })).toEqual(
          expect.stringMatching(/comes from an authority that is not trusted .*`connection\.ca`/u),
        );
      },
    );

    it("is not read where the certificate bears another name, and it is said how that name is written", async () => {
      await server.offer(own.certificate("DNS:other.example.com"));
      expect(await reading()).toEqual(
        expect.stringMatching(/has another name than localhost .*`connection\.serverName`/u),
      );
    });

    it("is not read where the certificate has expired", async () => {
      await server.offer(own.certificate("DNS:localhost", "expired"));
      expect(await reading()).toEqual(expect.stringMatching(/has expired .*Renew the certificate/u));
    });

    it("is not read where the server offers no TLS", async () => {
      await server.offer(undefined);
      expect(await reading()).toEqual(expect.stringMatching(/offers no TLS\. .*Turn TLS on/u));
    });

    it("is not read where the file of the authority holds no certificate, nor is another authority trusted then", async () => {
      await server.offer(own.certificate("DNS:localhost"));
      const { database, query } = server;
      for (const text of ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]) {
        const source = sourceOf(database, { customers: { query, key: "id" } }, {}, { files: { "ca.pem": text } });
        const { raws, outcome } = await readAll(source, "customers");
        expect([raws, outcome.problem?.code]).toEqual([[], "source.unreadable-file"]);
        expect(outcome.problem?.message).toContain(
          "The certificates ca.pem of the source crm contain no readable certificate",
        );
      }
    });
  });
}
