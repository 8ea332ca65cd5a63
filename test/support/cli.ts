import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";

const project = join(import.meta.dirname, "../..");
const launcher = join(project, "bin/crm-sync");

/** How one command line ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  ms: number;
}

/** A command line that is still on. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
  /** Waits until stdout and stderr together hold this; rejects when the program ends before. */
  says(text: string | RegExp): Promise<void>;
}

export interface Person {
  id: string;
  customer: string;
  login: string;
  name: string;
  assets?: ({ instance: string } | { number: string })[];
}

export interface CustomerRow {
  id: string;
  name: string;
  branch?: string;
  address?: string | null;
}

export interface OrderRow {
  id: string;
  customer: string;
  cancelled?: boolean;
  /** Ids of its assets, each with one product `${asset}-P` unless `products` says otherwise. */
  assets: string[];
  products?: { id: string; asset: string; nodes?: number }[];
}

/** Texts that stand for personal data and secrets. None of them may ever be seen outside the private table. */
export const canary = {
  name: "Zqcanary Works",
  address: "Zqcanary Road 7",
  admin: "Zqcanary Boss",
  account: "zqcanaryboss",
  email: "zqcanary@example.com",
  mobile: "+4917700700700",
  login: "zqcanarylogin",
  person: "Zqcanary Person",
  seal: "zqcanary-sealing-key-0123456789abcdef",
  password: "zqcanary-password",
} as const;
const canaryPattern = /zqcanary|\+4917700700700|sandbox-app-token|sandbox-user-token/iu;

/** A CRM, its configuration, a sandbox and the command line, in a folder that goes with the test. */
export interface World {
  readonly folder: string;
  readonly sandbox: Sandbox;
  customers: CustomerRow[];
  orders: OrderRow[];
  staff: Person[];
  /** What is added to the end of the configuration. */
  extra: string;
  environment: Record<string, string | undefined>;
  path(name: string): string;
  /** Writes the configuration and the files of the CRM as they are now. */
  write(): void;
  /** Runs the real command line against the sandbox. */
  run(...words: string[]): Promise<Ended>;
  start(...words: string[]): Running;
  /** Without `--sandbox`. */
  plain(...words: string[]): Promise<Ended>;
  /** Rows of the ledger. */
  rows<Row>(sql: string, ...parameters: unknown[]): Row[];
  /** Carries out a statement in the ledger as somebody with the file at hand could. */
  tamper(sql: string): void;
  /** Writing calls that the sandbox got while `work` was on, by operation. */
  writes<T>(work: () => Promise<T>): Promise<{ result: T; calls: Record<string, number> }>;
}

export const writingOperations = ["E1", "E2", "E4", "E5", "E6", "E7", "E9", "M1", "M2", "M3", "M4", "M9", "M10"];

/** The environment of the machine without what would configure the program. */
function bareEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("CRM_SYNC") && name !== "NODE_OPTIONS");
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: join(tmpdir(), "crm-sync-test-compile-cache") };
}

/** Starts the real launcher in a folder. Everything it says is collected; nothing of it goes to the terminal. */
export function startCli(
  words: readonly string[],
  options: { folder: string; environment?: Record<string, string | undefined> },
): Running {
  const started = performance.now();
  const child = spawn(launcher, words, {
    cwd: options.folder,
    env: { ...bareEnvironment(), ...options.environment },
  });
  child.stdin.on("error", () => {});
  child.stdin.end();
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  const heard = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    heard();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    heard();
  });
  let over = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      over = true;
      heard();
      resolve({ code, signal, stdout, stderr, ms: performance.now() - started });
    });
  });
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = stdout + stderr;
          if (typeof text === "string" ? all.includes(text) : text.test(all)) {
            listeners.delete(look);
            resolve();
          } else if (over) {
            listeners.delete(look);
            reject(new Error(`it ended without saying ${String(text)}:\n${all}`));
          }
        };
        listeners.add(look);
        look();
      }),
  };
}

/**
 * What holds for every command line, whatever it did: nothing private, no stack trace, no terminal codes in a pipe, every line of stderr that
 * looks like a log line is one, and with `--json` stdout is JSON on every line.
 */
export function expectDecent(words: readonly string[], ended: Pick<Ended, "stdout" | "stderr">): void {
  const said = `${ended.stdout}\n${ended.stderr}`;
  const command = `crm-sync ${words.join(" ")}`;
  expect.soft(canaryPattern.exec(said)?.[0], `${command} shows something private`).toBeUndefined();
  expect.soft(/^\s+at .+:\d+:\d+\)?$/mu.exec(said)?.[0], `${command} shows a stack trace`).toBeUndefined();
  // eslint-disable-next-line no-control-regex
  expect.soft(/\u001b|\r/u.exec(said)?.[0], `${command} writes terminal codes into a pipe`).toBeUndefined();
  if (!words.includes("--json")) return;
  for (const line of ended.stdout.split("\n").filter((text) => text !== "")) {
    expect.soft(() => JSON.parse(line) as unknown, `${command} prints a line that is no JSON: ${line}`).not.toThrow();
  }
}

/** Lines of JSON on stdout. */
export function documents(ended: Ended): ReturnType<typeof JSON.parse>[] {
  return ended.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** The one JSON document on stdout. */
export function document(ended: Ended): ReturnType<typeof JSON.parse> {
  const all = documents(ended);
  expect(all, `one document was expected:\n${ended.stdout}\n${ended.stderr}`).toHaveLength(1);
  return all[0];
}

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "crm-sync-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const configuration = `ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
zone: UTC
log: { level: warn }
sources:
  crm:
    kind: file
    directory: data
    streams:
      customers:
        files: customers.ndjson
        key: id
        mapping:
          id: id
          name: name
          customerType: { value: company }
          branchCode: { value: B1 }
          branchName: branch
          address: address
          adminName: admin.name
          adminAccount: admin.account
          adminEmail: admin.email
          adminMobile: admin.mobile
          purchaserMobile: admin.mobile
      orders:
        files: orders.ndjson
        key: id
        mapping:
          id: id
          customerId: customer
          cancelled: cancelled
          placedAt: placedAt
          instances:
            - kind: asset
              each: assets
              fields:
                id: id
                licenseType: { value: cloud_account }
            - kind: product
              each: products
              fields:
                id: id
                parentId: asset
                name: name
                gmsPid: pid
                type: { value: tool }
                nodes: nodes
                timeUnit: { value: YEAR }
                timeUnitQuantity: { value: 1 }
                term: { value: 1-0-0 }
  hr:
    kind: file
    directory: data
    streams:
      staff:
        files: staff.ndjson
        key: id
        mapping:
          id: id
          customerId: customer
          userName: login
          name: name
          mobile: mobile
          assets:
            - each: assets
              when: { path: number, present: true }
              fields: { assetNumber: number }
            - each: assets
              when: { path: instance, present: true }
              fields: { instanceId: instance }
`;

/** The configuration of `world()`, for tests that change it. */
export const worldConfiguration = configuration;

/** The job of `world()` that does everything in one run. */
const jobs = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;

function lines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

export function customerLine(customer: CustomerRow): object {
  const { id, name, branch = "Branch", address = canary.address } = customer;
  const { admin, account, email, mobile } = canary;
  return { id, name, branch, ...(address === null ? {} : { address }), admin: { name: admin, account, email, mobile } };
}

export function orderLine(order: OrderRow): object {
  const products = order.products ?? order.assets.map((asset) => ({ id: `${asset}-P`, asset }));
  return {
    id: order.id,
    customer: order.customer,
    cancelled: order.cancelled ?? false,
    placedAt: "2026-10-05T08:00:00Z",
    assets: order.assets.map((id) => ({ id })),
    products: products.map((product) => ({ name: `Product ${product.id}`, pid: "PID-1", nodes: 3, ...product })),
  };
}

export function staffLine(person: Person): object {
  return { mobile: canary.mobile, assets: [], ...person };
}

/** `count` customers C1…, each with one order O1… of `assets` assets (O1-A1…) and as many people (S1-1…) who hold one each. */
export function company(count: number, assets: number): Pick<World, "customers" | "orders" | "staff"> {
  const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);
  return {
    customers: numbers(count).map((n) => ({ id: `C${n}`, name: `${canary.name} ${n}` })),
    orders: numbers(count).map((n) => ({
      id: `O${n}`,
      customer: `C${n}`,
      assets: numbers(assets).map((a) => `O${n}-A${a}`),
    })),
    staff: numbers(count).flatMap((n) =>
      numbers(assets).map((a) => ({
        id: `S${n}-${a}`,
        customer: `C${n}`,
        login: `${canary.login}${n}x${a}`,
        name: `${canary.person} ${n} ${a}`,
        assets: [{ instance: `O${n}-A${a}` }],
      })),
    ),
  };
}

/** Makes a world: by default two customers with one order of two assets each, and two people each. */
export async function world(
  options: { records?: Pick<World, "customers" | "orders" | "staff">; sandbox?: Partial<SandboxOptions> } = {},
): Promise<World> {
  const folder = temporaryFolder();
  const sandbox = await startSandbox({
    store: ":memory:",
    clock: systemClock,
    random: systemRandomness,
    ...options.sandbox,
  });
  onTestFinished(() => sandbox.close());
  const path = (name: string): string => join(folder, name);
  const made: World = {
    folder,
    sandbox,
    ...(options.records ?? company(2, 2)),
    extra: "",
    environment: {
      SEAL_KEY: canary.seal,
      CRM_SYNC__settle__timeMs: "200",
      CRM_SYNC__settle__readings: "2",
    },
    path,
    write() {
      mkdirSync(path("data"), { recursive: true });
      writeFileSync(path("crm-sync.yaml"), `${configuration}${made.extra.includes("jobs:") ? "" : jobs}${made.extra}`);
      writeFileSync(path("data/customers.ndjson"), lines(made.customers.map(customerLine)));
      writeFileSync(path("data/orders.ndjson"), lines(made.orders.map(orderLine)));
      writeFileSync(path("data/staff.ndjson"), lines(made.staff.map(staffLine)));
    },
    start(...words) {
      const running = startCli([`--sandbox=${sandbox.url}`, ...words], { folder, environment: made.environment });
      onTestFinished(() => {
        if (running.child.exitCode === null) running.child.kill("SIGKILL");
      });
      return running;
    },
    async run(...words) {
      const ended = await made.start(...words).ended;
      expectDecent(words, ended);
      return ended;
    },
    async plain(...words) {
      const ended = await startCli(words, { folder, environment: made.environment }).ended;
      expectDecent(words, ended);
      return ended;
    },
    rows(sql, ...parameters) {
      const database = new Database(path("ledger.db"), { readonly: true });
      try {
        return database.prepare<unknown[], never>(sql).all(...parameters);
      } finally {
        database.close();
      }
    },
    tamper(sql) {
      const database = new Database(path("ledger.db"));
      try {
        database.exec(sql);
      } finally {
        database.close();
      }
    },
    async writes(work) {
      const before = sandbox.counts().calls;
      const result = await work();
      const after = sandbox.counts().calls;
      const calls: Record<string, number> = {};
      for (const name of writingOperations) {
        const count = (after[name] ?? 0) - (before[name] ?? 0);
        if (count > 0) calls[name] = count;
      }
      return { result, calls };
    },
  };
  made.write();
  return made;
}
