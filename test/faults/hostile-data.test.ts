/** @module-tag sized */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import pLimit from "p-limit";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { createStaging } from "../../src/ledger/records/staging.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { createSource } from "../../src/source/source.ts";
import { crmSync, goodRunOf, runJob, runResultOf } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { startChangingProxy } from "../support/reversing-proxy.ts";
import { isFull, sampled, sizes } from "../support/sizes.ts";
import { changes, configOf, ledgerOf, platformOf, writeWorld } from "../support/world/small.ts";
import { sealEnvironment } from "../support/world/crm.ts";
import {
  customer,
  hostileClasses,
  order,
  person,
  type Held,
  type HostileClass,
  type HostileStream,
  type Row,
} from "./hostile-classes.ts";
import { mappingOf } from "../support/world/crm-files.ts";

/**
 * Hostile records stand between clean ones in a real file. The clean ones are synchronised, each hostile one is
 * synchronised exactly or waits alone in quarantine with its place and reason, nothing that is printed disturbs a
 * terminal, and a second run has nothing to send.
 */

const folder = temporaryFolder();
afterAll(() => folder.remove());
const someAtOnce = pLimit(4);
let worlds = 0;

type Format = "ndjson" | "json" | "csv";

const columns: Record<HostileStream, string[]> = {
  customers: ["id", "name", "branch", "contact", "account", "email", "mobile", "address"],
  orders: ["id", "customer", "placedAt", "asset", "product", "productName", "nodes"],
  staff: ["id", "customer", "login", "name", "mobile", "remark"],
};

const mappings = {
  customers: mappingOf("customers", "csv"),
  orders: {
    id: "id",
    customerId: "customer",
    placedAt: "placedAt",
    instances: [
      { kind: "asset", one: { id: "asset", licenseType: { value: "cloud_account" } } },
      {
        kind: "product",
        one: {
          id: "product",
          parentId: "asset",
          name: "productName",
          gmsPid: { value: "PLAN-1" },
          type: { value: "tool" },
          nodes: "nodes",
          timeUnit: { value: "YEAR" },
          timeUnitQuantity: { value: 1 },
          term: { value: "1-0-0" },
        },
      },
    ],
  },
  staff: { id: "id", customerId: "customer", userName: "login", name: "name", mobile: "mobile", remark: "remark" },
};

interface Cleaner {
  record: (index: number) => Row;
  held: (index: number) => Held;
}

const clean: Record<HostileStream, Cleaner> = {
  customers: {
    record: (index) => customer(`N${index}`, `Clean ${index}`),
    held: (index) => [`N${index}`, `Clean ${index}`],
  },
  orders: {
    record: (index) => order(`N${index}`, { product: `PN${index}` }),
    held: (index) => [`PN${index}`, "Planner", 3],
  },
  staff: {
    record: (index) => person(`N${index}`, { login: `clean${index}`, name: `Clean ${index}` }),
    held: (index) => [`clean${index}`, `Clean ${index}`, null],
  },
};

function textOf(format: Format, stream: HostileStream, records: readonly (Row | string)[]): string {
  const asJson = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
  switch (format) {
    case "ndjson":
      return asJson.map((text) => `${text}\n`).join("");
    case "json":
      return `[${asJson.join(",\n")}]\n`;
    case "csv":
      return stringify(
        records.filter((record) => typeof record !== "string"),
        { header: true, columns: columns[stream], quoted_string: true },
      );
  }
}

interface World {
  path: string;
  sandbox: Sandbox;
}

const options = ({ path, sandbox }: World) => ({
  config: configOf(path),
  sandbox: sandbox.url,
  ledger: ledgerOf(path),
  environment: { ...sealEnvironment, CRM_SYNC__zone: "UTC" },
});

async function openPlatform(path: string): Promise<Sandbox> {
  return await newSandbox({ store: platformOf(path) });
}

async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
  await someAtOnce(async () => {
    worlds += 1;
    const path = join(folder.path, `world-${worlds}`);
    mkdirSync(path, { recursive: true });
    const world = { path, sandbox: await openPlatform(path) };
    try {
      await work(world);
    } finally {
      await world.sandbox.close();
      rmSync(path, { recursive: true, force: true });
    }
  });
}

/** Writes a world of the stream's records; what people and orders need stands beside it. */
function write(path: string, format: Format, stream: HostileStream, records: readonly (Row | string)[]): void {
  const file = (name: HostileStream, extension: string) => ({
    files: `${name}.${extension}`,
    key: "id",
    mapping: mappings[name],
  });
  const host = stream === "customers" ? {} : { customers: file("customers", "ndjson") };
  const configuration = {
    ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
    jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
    sources: { crm: { kind: "file", directory: ".", streams: { ...host, [stream]: file(stream, format) } } },
  };
  writeFileSync(join(path, "crm-sync.yaml"), JSON.stringify(configuration, null, 1));
  if (stream !== "customers")
    writeFileSync(join(path, "customers.ndjson"), `${JSON.stringify(customer("HOST", "Host"))}\n`);
  writeFileSync(join(path, `${stream}.${format}`), textOf(format, stream, records));
}

const heldRows = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

/** What the platform holds, read from its own store, which it has for itself while it runs. */
function held(path: string, stream: HostileStream): Held[] {
  const view = new LedgerView(platformOf(path));
  try {
    const queries: Record<HostileStream, string> = {
      customers: "select channel_customer_id, name from customers where is_default = 0",
      orders:
        "select crm_product_id, json_extract(record, '$.productName'), json_extract(record, '$.limitConcurrent') from products where removed_by is null",
      staff: "select user_name, name, remark from staff where deleted = 0 and role = 'added'",
    };
    return view.rows(heldRows, queries[stream]).map((row) => Object.values(row));
  } finally {
    view.close();
  }
}

const sorted = (rows: readonly Held[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();

// oxlint-disable-next-line no-control-regex -- what is looked for are control characters
const disturbing = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

function isDecent(what: string, { stdout, stderr }: { stdout: string; stderr: string }): void {
  const said = stdout + stderr;
  expect(disturbing.exec(said)?.[0], `${what}: ${JSON.stringify(said.slice(0, 2_000))}`).toBeUndefined();
  expect(said.isWellFormed(), what).toBe(true);
  expect(said).not.toContain("defect");
}

const quarantineRows = z.array(
  z.looseObject({ id: z.string(), code: z.string(), place: z.string(), message: z.string(), field: z.string() }),
);

const placeOf = (format: Format, stream: HostileStream, position: number): string =>
  format === "json" ? `${stream}.json#/${position}` : `${stream}.${format}:${position + (format === "csv" ? 2 : 1)}`;

async function meet(world: World, format: Format, hostile: HostileClass): Promise<void> {
  const { stream } = hostile;
  const count = Math.min(sizes.hostile, hostile.most ?? Infinity);
  const indexes = Array.from({ length: count }, (_, index) => index);
  const records = [
    ...indexes.flatMap((index) => [clean[stream].record(index), hostile.record(index)]),
    clean[stream].record(count),
  ];
  write(world.path, format, stream, records);
  const cleanHeld = [...indexes, count].map(clean[stream].held);
  const { becomes } = hostile;
  const wanted = "held" in becomes ? [...cleanHeld, ...indexes.map(becomes.held)] : cleanHeld;
  const exit = "held" in becomes ? 0 : 3;

  const first = runResultOf(await runJob(options(world)));
  expect(first.balance.adds).toBe(true);
  const list = await crmSync(options(world), "--json", "quarantine", "list");
  const rows = quarantineRows.parse(JSON.parse(list.stdout));
  expect(rows.map((row) => `${row.place} ${row.code}`).toSorted()).toEqual(
    "held" in becomes
      ? []
      : indexes.map((index) => `${placeOf(format, stream, index * 2 + 1)} ${becomes.code}`).toSorted(),
  );
  expect(first.exit).toBe(exit);
  await world.sandbox.close();
  const found = held(world.path, stream);
  world.sandbox = await openPlatform(world.path);
  expect(sorted(found)).toEqual(sorted(wanted));

  const before = world.sandbox.counts().writingCalls;
  const second = runResultOf(await runJob(options(world)));
  expect(second).toMatchObject({ exit, writingCalls: 0, balance: { adds: true } });
  expect(world.sandbox.counts().writingCalls).toBe(before);

  const told = await crmSync(options(world), "quarantine", "list");
  isDecent("quarantine list", told);
  if (rows.length > 0) expect(told.stdout).toContain(placeOf(format, stream, 1));
  const [row] = rows;
  if (row !== undefined) {
    isDecent("quarantine show --raw", await crmSync(options(world), "quarantine", "show", row.id, "--raw"));
  }
  isDecent("status", await crmSync(options(world), "status"));
  if (stream === "customers" && "held" in becomes) {
    const [id] = becomes.held(0);
    isDecent("explain", await crmSync(options(world), "explain", "customer", `crm/${String(id)}`));
  }
}

const longest = isFull ? 64_000_000 : 4_000_000;
const cases = Object.entries(hostileClasses({ longest })).flatMap(([name, hostile]) =>
  (hostile.formats ?? ["ndjson"]).map((format) => [name, format, hostile] as const),
);

describe(`hostile records between clean ones, ${sizes.hostile} of a class`, () => {
  it.each(sampled(cases, 6))("%s (%s)", { tags: "long", timeout: 600_000 }, async (_name, format, hostile) => {
    await inWorld((world) => meet(world, format, hostile));
  });
});

describe("a report for a spreadsheet", () => {
  it("begins no cell like a formula, whatever ids and names hold", { tags: "long" }, async () => {
    await inWorld(async (world) => {
      const starts = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\uFF1D1", '=HYPERLINK("http://evil.example")'];
      const good = starts.map((start, index) =>
        order(`${start}${index}`, {
          asset: `${start}A${index}`,
          product: `${start}P${index}`,
          productName: `${start}Planner`,
        }),
      );
      const bad = starts.map((start, index) =>
        order(`${start}bad${index}`, { product: `${start}B${index}`, nodes: start }),
      );
      write(world.path, "ndjson", "orders", [...good, ...bad]);
      expect(runResultOf(await runJob(options(world)))).toMatchObject({ exit: 3 });
      const period = new Date().toISOString().slice(0, 7);
      const shown = starts.map((start) => start.replace("\t", "\\t").replace("\r", "\\r"));
      for (const kind of ["orders", "exceptions", "reconciliation"]) {
        const out = join(world.path, `${kind}.csv`);
        const ended = await crmSync(options(world), "--json", "report", kind, "--period", period, "--out", out);
        expect(ended.exitCode, ended.stderr).toBe(0);
        const { files } = z.object({ files: z.array(z.string()) }).parse(JSON.parse(ended.stdout));
        const cells = files
          .filter((file) => file.endsWith(".csv"))
          .flatMap((file) => z.array(z.array(z.string())).parse(parse(readFileSync(file, "utf8"))))
          .flat();
        expect(
          cells.filter((cell) => /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u.test(cell)),
          kind,
        ).toEqual([]);
        const named = kind === "exceptions" ? ["=1+1bad0", "-1bad2", "@SUM(1)bad3"] : shown;
        for (const text of named)
          expect(
            cells.some((cell) => cell.includes(text)),
            `${kind}: ${text}`,
          ).toBe(true);
        if (kind === "orders") expect(cells).toEqual(expect.arrayContaining(shown.map((start) => `'${start}Planner`)));
      }
    });
  });
});

describe("a configuration", () => {
  it(
    "whose aliases grow beyond measure is refused with its place, and nothing is started",
    { tags: "long" },
    async () => {
      await inWorld(async (world) => {
        const laughs = Array.from({ length: 30 }, (_, index) =>
          index === 0
            ? "a0: &a0 [x, x, x, x]"
            : `a${index}: &a${index} [*a${index - 1}, *a${index - 1}, *a${index - 1}, *a${index - 1}]`,
        );
        writeFileSync(configOf(world.path), `${laughs.join("\n")}\n`);
        const ended = await crmSync(options(world), "check");
        expect(ended.exitCode).toBe(78);
        expect(ended.stderr).toMatch(/crm-sync\.yaml:\d+:\d+: /u);
        expect(world.sandbox.counts().calls).toEqual({});
      });
    },
  );
});

describe("an answer of the platform that is nested ten thousand deep", () => {
  it(
    "is unreadable and no proof of anything: an order in doubt is not placed again, and is settled by the next answer",
    { tags: "long" },
    async () => {
      await inWorld(async (world) => {
        writeWorld(world.path);
        const runThrough = (sandbox: string) => runJob({ ...options(world), sandbox });
        goodRunOf(await runThrough(world.sandbox.url));
        const change = changes["E5 places an order"];
        if (change === undefined) throw new Error("the world has no order to place");
        writeWorld(world.path, change.world);
        const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
        const proxy = await startChangingProxy(world.sandbox.url, (url, text) =>
          url.includes("/merchandiseProducts") ? text.replace('"data":{', `"data":{"more":${deep},`) : undefined,
        );
        try {
          world.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", nth: 1 });
          const first = runResultOf(await runThrough(proxy.url));
          expect(first).toMatchObject({ state: "done", exit: 5, balance: { adds: true } });
          const status = await crmSync(options(world), "status");
          expect(status.stdout + JSON.stringify(first)).not.toMatch(/RangeError|call stack|"defects":[1-9]/u);
          const again = runResultOf(await runThrough(proxy.url));
          expect(again).toMatchObject({ state: "done", exit: 5, writingCalls: 0, balance: { adds: true } });
          const verified = await crmSync({ ...options(world), sandbox: proxy.url }, "--json", "run", "verify");
          expect(verified.exitCode).toBe(5);
          expect(verified.stdout + verified.stderr).toContain(
            "M7 got an answer in an unexpected form: HTTP 200 with a body nested deeper than 100 levels",
          );
          expect(verified.stdout + verified.stderr).not.toMatch(/RangeError|call stack|"defects":[1-9]/u);
        } finally {
          await proxy.close();
        }
        goodRunOf(await runThrough(world.sandbox.url));
        const orders = Object.values(world.sandbox.state().orders);
        expect(orders.map((placed) => placed.calls)).toEqual([1, 1]);
        expect(goodRunOf(await runThrough(world.sandbox.url)).writingCalls).toBe(0);
      });
    },
  );
});

describe("what a hostile record costs", () => {
  // Deep and wide records are all structure: a clean record of their size with one long text in it is no measure for
  // them.
  const measured = isFull
    ? cases.filter(([name]) => !/^(?:names of 64000000|10,000|lists of|objects of)/u.test(name))
    : [];

  it.each([["(measured at the full size only)", "ndjson", undefined] as const, ...measured])(
    "is at most ten times what a clean record of its size costs: %s (%s)",
    { timeout: 600_000 },
    async (_name, format, hostile) => {
      if (hostile === undefined) return;
      const count = Math.min(sizes.hostile, hostile.most ?? Infinity);
      const indexes = Array.from({ length: count }, (_, index) => index);
      const bad = indexes.map(hostile.record);
      const sizeOf = (record: Row | string): number =>
        (typeof record === "string" ? record : JSON.stringify(record)).length;
      const good = indexes.map((index) => {
        const record = clean[hostile.stream].record(index);
        const missing = sizeOf(bad[index] ?? "") - sizeOf(record) - 12;
        return format === "csv" || missing < 1 ? record : { ...record, ignored: "i".repeat(missing) };
      });
      const costs = { good: Infinity, bad: Infinity };
      for (let pass = 0; pass < 3; pass += 1) {
        for (const [kind, records] of [
          ["good", good],
          ["bad", bad],
        ] as const) {
          const path = join(folder.path, `cost-${kind}`);
          mkdirSync(path, { recursive: true });
          writeFileSync(join(path, `${hostile.stream}.${format}`), textOf(format, hostile.stream, records));
          costs[kind] = Math.min(costs[kind], await readingTime(path, hostile.stream, format));
          rmSync(path, { recursive: true, force: true });
        }
      }
      expect(costs.bad / costs.good, JSON.stringify(costs)).toBeLessThanOrEqual(10);
    },
  );
});

/** CPU time in microseconds of reading and mapping every record of a file. */
async function readingTime(path: string, stream: HostileStream, format: Format): Promise<number> {
  const source = createSource(
    "crm",
    sourceSettingsSchema.parse({
      kind: "file",
      directory: path,
      streams: { [stream]: { files: `${stream}.${format}`, key: "id", mapping: mappings[stream] } },
    }),
    { clock: systemClock, random: systemRandomness, secrets: () => "", staging: createStaging(), baseDirectory: path },
  );
  const { map } = await source.mapping(stream);
  const before = process.cpuUsage();
  const reading = source.read(stream, {});
  for (let next = await reading.next(); next.done !== true; next = await reading.next())
    for (const item of next.value) if ("raw" in item) map(item.raw.value);
  const { user, system } = process.cpuUsage(before);
  await source.close();
  return user + system;
}
