import { createServer } from "node:http";
import { request as secure } from "node:https";
import type { AddressInfo } from "node:net";
import { TLSSocket } from "node:tls";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readCertificate } from "../../src/operate/certificate.ts";
import type { WebServer } from "../../src/operate/health.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { startWebServer } from "../../src/web/server.ts";
import { Authority, type Certificate } from "../support/authority.ts";

const folder = mkdtempSync(join(tmpdir(), "crm-sync-listen-"));
let authority: Authority;
let good: Certificate;
let second: Certificate;
let expired: Certificate;
beforeAll(() => {
  authority = new Authority("known");
  good = authority.certificate("DNS:localhost");
  second = authority.certificate("DNS:localhost");
  expired = authority.certificate("DNS:localhost", "expired");
});
afterAll(() => {
  authority.remove();
  rmSync(folder, { recursive: true, force: true });
});

function put({ cert, key }: { cert: string; key: string }): void {
  writeFileSync(join(folder, "server.crt"), cert);
  writeFileSync(join(folder, "server.key"), key);
}

/** A clock on which a wait is over when the test says so. */
class SteppingClock implements Clock {
  readonly waits: number[] = [];
  readonly now = (): number => systemClock.now();
  readonly monotonic = (): number => systemClock.monotonic();
  #go = (): void => {};
  #begun = Promise.withResolvers<void>();

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      this.waits.push(ms);
      this.#go = resolve;
      this.#begun.resolve();
      signal?.addEventListener("abort", () => reject(signal.reason));
    });

  /** The wait is over; resolves when the next one begins. */
  async step(): Promise<void> {
    this.#begun = Promise.withResolvers();
    this.#go();
    await this.#begun.promise;
  }
}

/** A log that says when a server listens. */
function listening(): { log: string[]; listens: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const log: string[] = [];
  const push = log.push.bind(log);
  log.push = (...lines) => {
    if (lines.some((line) => line.includes("web.listens"))) resolve();
    return push(...lines);
  };
  return { log, listens: promise };
}

async function serving(
  port: number,
  more: { clock?: Clock; log?: string[]; tls?: boolean; goesOn?: boolean },
): Promise<WebServer> {
  const { clock = systemClock, log = [], tls = false, goesOn = true } = more;
  const files = { certificate: "server.crt", key: "server.key" };
  const server = await startWebServer({
    settings: { host: "127.0.0.1", port },
    clock,
    logger: pino({ level: "info" }, { write: (line: string) => void log.push(line) }),
    goesOn,
    ...(tls ? { certificate: () => readCertificate(files, folder, clock) } : {}),
  });
  onTestFinished(() => server.close());
  return server;
}

async function alive(server: WebServer): Promise<number> {
  const answer = await request(`${server.url}/livez`);
  await answer.body.dump();
  return answer.statusCode;
}

/** The fingerprint of the certificate that is shown, as a browser that knows the authority gets it. */
async function shownTo(server: WebServer): Promise<string | undefined> {
  return await new Promise((resolve, reject) => {
    const { port } = new URL(server.url);
    secure(
      {
        host: "127.0.0.1",
        port,
        path: "/livez",
        servername: "localhost",
        ca: authority.pem,
        rejectUnauthorized: false,
        agent: false,
      },
      (answer) => {
        const { socket } = answer;
        const found = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
        answer.resume().on("end", () => resolve(found));
      },
    )
      .on("error", reject)
      .end();
  });
}

describe("a port that is taken", () => {
  it("is named in the log and tried again every half minute until it is free", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const clock = new SteppingClock();
    const { log, listens } = listening();
    const server = await serving(port, { clock, log });
    expect([clock.waits, log.length]).toEqual([[30_000], 1]);
    expect(log[0]).toContain(`cannot listen on 127.0.0.1:${port}`);
    await clock.step();
    await new Promise((resolve) => other.close(resolve));
    void clock.step();
    await listens;
    expect([await alive(server), server.url]).toEqual([200, `http://127.0.0.1:${port}`]);
  });

  it("keeps nobody from ending", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const server = await serving((other.address() as AddressInfo).port, { clock: new SteppingClock() });
    await server.close();
  });
});

describe("a certificate", () => {
  it("is shown", async () => {
    put(good);
    const server = await serving(0, { tls: true });
    expect(await shownTo(server)).toBeDefined();
    expect(server.url).toMatch(/^https:/u);
  });

  it("that has expired is shown all the same, and named", async () => {
    put(expired);
    const log: string[] = [];
    const server = await serving(0, { tls: true, log });
    expect(await shownTo(server)).toBeDefined();
    expect(log.join("")).toMatch(/serve\.tls\.certificate has expired at \d{4}-/u);
  });

  it.each([
    ["is not there", () => rmSync(join(folder, "server.crt"), { force: true }), "cannot be read (ENOENT)"],
    ["is none", () => put({ cert: "nonsense", key: good.key }), "does not contain a certificate in PEM"],
    [
      "has the key of another one",
      () => put({ cert: good.cert, key: second.key }),
      "is not the key of the certificate",
    ],
    ["has no key", () => put({ cert: good.cert, key: "nonsense" }), "does not contain a private key"],
  ])("that %s at the start is named and tried again; nothing is ever served in clear", async (_what, spoil, said) => {
    put(good);
    spoil();
    const clock = new SteppingClock();
    const { log, listens } = listening();
    const server = await serving(0, { tls: true, clock, log });
    expect(log.join("")).toContain(said);
    put(good);
    void clock.step();
    await listens;
    expect(await shownTo(server)).toBeDefined();
    await expect(request(`${server.url.replace("https", "http")}/livez`)).rejects.toThrow();
  });
});
