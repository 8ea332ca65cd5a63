import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import type { Certificate } from "./authority.ts";
import { freePort } from "./free-port.ts";

/** A MariaDB or MySQL server of its own for a test file. */
export interface MariadbServer {
  socket: string;
  port: number;
  user: string;
  /** Runs statements, as the owner of everything. */
  run: (database: string | undefined, ...statements: string[]) => Promise<unknown>;
  /** A new, empty database. */
  newDatabase: () => Promise<string>;
  /** Offers TLS with another certificate; only a server that was started with one can. */
  offerTls: (certificate: Certificate) => Promise<void>;
  stop: () => Promise<void>;
}

/** Where a program is, also where only an administrator looks for it. */
function found(...names: string[]): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

const daemon = found("mariadbd");
const install = found("mariadb-install-db", "mysql_install_db");

/** Whether a server is installed on this machine: it cannot be had as a package. */
export const hasMariadb = daemon !== undefined && install !== undefined;

/** Starts the server that is installed, with nothing in it. */
export async function startMariadb(certificate?: Certificate): Promise<MariadbServer> {
  if (daemon === undefined || install === undefined) throw new Error("there is no MariaDB on this machine");
  const folder = mkdtempSync(join(tmpdir(), "crm-sync-mariadb-"));
  const data = join(folder, "data");
  const socket = join(folder, "socket");
  const own = process.getuid?.() === 0 ? ["--user=root"] : [];
  const common = ["--no-defaults", `--datadir=${data}`, ...own];
  execFileSync(install, [...common, "--auth-root-authentication-method=normal", "--skip-test-db"], { stdio: "ignore" });
  const port = await freePort();
  const [key, cert] = [join(folder, "server.key"), join(folder, "server.crt")];
  const write = (one: Certificate): void => {
    writeFileSync(key, one.key, { mode: 0o600 });
    writeFileSync(cert, one.cert);
  };
  if (certificate !== undefined) write(certificate);
  const tls = certificate === undefined ? [] : [`--ssl-key=${key}`, `--ssl-cert=${cert}`];
  const where = [`--socket=${socket}`, "--bind-address=127.0.0.1", `--port=${port}`];
  const server = spawn(daemon, [...common, ...where, ...tls, "--innodb-flush-method=nosync"], { stdio: "ignore" });
  const run: MariadbServer["run"] = async (database, ...statements) => {
    const connection = await createConnection({
      socketPath: socket,
      user: "root",
      ...(database === undefined ? {} : { database }),
    });
    try {
      let last: unknown;
      for (const statement of statements) [last] = await connection.query(statement);
      return last;
    } finally {
      await connection.end();
    }
  };
  for (;;) {
    try {
      await run(undefined, "select 1");
      break;
    } catch (error) {
      if (server.exitCode !== null) throw error;
      await pause(50);
    }
  }
  let databases = 0;
  return {
    socket,
    port,
    user: "root",
    run,
    async newDatabase() {
      databases += 1;
      const name = `erp${databases}`;
      await run(undefined, `create database ${name} character set utf8mb4`);
      return name;
    },
    async offerTls(other) {
      write(other);
      await run(undefined, "flush ssl");
    },
    async stop() {
      const ended = new Promise((done) => server.once("exit", done));
      server.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
