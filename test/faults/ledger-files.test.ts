/** @module-tag sized */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { sha256 } from "../../src/base/canonical-json.ts";
import { systemClock } from "../../src/base/clock.ts";
import { exitCodes } from "../../src/base/errors.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { verifyRecord } from "../../src/ledger/audit/verify-log.ts";
import type { AuditRow } from "../../src/ledger/audit/audit-log.ts";
import { headsPath, readKeptHeads } from "../../src/ledger/audit/audit-heads.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { seededFraction } from "../../src/sandbox/faults.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { fullCheck } from "../support/full-check.ts";
import { startGate } from "../support/gate.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf, runJob } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { isFull, sampled, sizes } from "../support/sizes.ts";
import {
  again,
  base as baseWorld,
  baseWished,
  changes,
  configOf,
  ledgerOf,
  platformOf,
  together,
  writeWorld,
} from "../support/world/small.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";
import type { SmallWorld } from "../support/world/small.ts";
import { dumpOf, dumpsDiffer, framesOf, imageOf } from "../support/ledger-bytes.ts";
import type { Dump, Frame } from "../support/ledger-bytes.ts";

/**
 * What happens to the files of a ledger from outside: taken away while a run is on, torn, flipped. No fault here may
 * bring a call about.
 */
const folder = temporaryFolder();
afterAll(() => folder.remove());
let worlds = 0;

function newFolder(): string {
  worlds += 1;
  return join(folder.path, `world-${worlds}`);
}

async function openPlatform(store: string): Promise<Sandbox> {
  return await newSandbox({ store });
}

async function run(path: string, url: string): Promise<Ended> {
  return await runJob({
    config: configOf(path),
    sandbox: url,
    ledger: ledgerOf(path),
    environment: sealEnvironment,
  });
}

async function fullCheckOf(path: string, sandbox: Sandbox, wished = baseWished): Promise<string[]> {
  return await fullCheck({
    ledger: ledgerOf(path),
    sandbox: sandbox.url,
    wished,
    personal,
    secrets,
    output: [],
  });
}

const failure = z.object({ error: z.object({ code: z.string(), cure: z.string().min(1) }) });

/** The code that a refusal of the ledger came with; anything else fails the test. */
function refusalOf(ended: Ended): string {
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(exitCodes.ledgerRefused);
  expect(ended.stderr).toContain("→");
  expect(ended.stderr).not.toContain("defect");
  return failure.parse(JSON.parse(ended.stdout)).error.code;
}

const beside = ["-wal", "-shm"];

function copyLedger(from: string, to: string, suffixes: readonly string[] = ["", ...beside]): void {
  for (const suffix of suffixes) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
}

interface Harm {
  /** What is done to the ledger at this path. */
  harm: (ledger: string) => void;
  /** What the program says of it. */
  code: "ledger.gone" | "ledger.replaced";
  /** What a person does then, and what the next run makes of that. */
  cure?: (ledger: string) => void;
  next: "ends well" | "ledger.lost" | "ledger.behind";
}

const harms: Record<string, Harm> = {
  "is deleted": { harm: (ledger) => rmSync(ledger), code: "ledger.gone", next: "ledger.lost" },
  "is deleted with what lies beside it": {
    harm: (ledger) => ["", ...beside].forEach((suffix) => rmSync(ledger + suffix)),
    code: "ledger.gone",
    next: "ledger.lost",
  },
  "is moved away, and put back later": {
    harm: (ledger) => renameSync(ledger, `${ledger}.away`),
    code: "ledger.gone",
    cure: (ledger) => renameSync(`${ledger}.away`, ledger),
    next: "ends well",
  },
  "is replaced by an empty file": {
    harm(ledger) {
      writeFileSync(`${ledger}.new`, "");
      renameSync(`${ledger}.new`, ledger);
    },
    code: "ledger.replaced",
    next: "ledger.lost",
  },
  "is replaced by a whole copy of itself, write-ahead log and all": {
    harm(ledger) {
      copyLedger(ledger, `${ledger}.new`, ["", "-wal"]);
      for (const suffix of ["", "-wal"]) renameSync(`${ledger}.new${suffix}`, ledger + suffix);
    },
    code: "ledger.replaced",
    next: "ends well",
  },
  "loses its write-ahead log": {
    harm: (ledger) => rmSync(`${ledger}-wal`),
    code: "ledger.gone",
    next: "ends well",
  },
  "loses the index of its write-ahead log": {
    harm: (ledger) => rmSync(`${ledger}-shm`),
    code: "ledger.gone",
    next: "ends well",
  },
};

describe.each(Object.entries(harms))("a ledger that %s while a run is on", (_, { harm, code, cure, next }) => {
  it.each(isFull ? [0, 1, 2, 3, 4] : sampled([1, 3]))(
    "as call %i that writes is on its way: nothing is sent after it, and the next run knows",
    { tags: "long" },
    async (nth) => {
      const path = newFolder();
      writeWorld(path);
      const sandbox = await openPlatform(":memory:");
      const gate = await startGate(sandbox.url, {
        before(call) {
          if (call.writes && call.before === nth) harm(ledgerOf(path));
        },
      });
      try {
        const ended = await run(path, gate.url);
        expect(refusalOf(ended)).toBe(code);
        expect(gate.calls().writing).toBe(nth + 1);
        cure?.(ledgerOf(path));
        const again = await run(path, gate.url);
        if (next === "ends well") {
          goodRunOf(again);
          expect(await fullCheckOf(path, sandbox)).toEqual([]);
          expect(goodRunOf(await run(path, gate.url)).writingCalls).toBe(0);
        } else {
          expect(refusalOf(again)).toBe(next);
          expect(gate.calls().writing).toBe(nth + 1);
        }
      } finally {
        await gate.close();
        await sandbox.close();
      }
    },
  );
});

describe("a ledger that is deleted while serve runs a job on it", () => {
  it("ends serve with what happened, and no more calls", { tags: "long" }, async () => {
    const path = newFolder();
    writeWorld(path);
    const ledger = await Ledger.open({
      path: ledgerOf(path),
      clock: systemClock,
      ids: createIds(() => systemClock.now(), systemRandomness),
      random: systemRandomness,
    });
    await ledger.schedule.claim("everything", "2026-01-01T00:00:00.000Z");
    await ledger.schedule.finish("everything", "2026-01-01T00:00:00.000Z");
    ledger.close();
    const sandbox = await openPlatform(":memory:");
    const gate = await startGate(sandbox.url, {
      before(call) {
        if (call.writes && call.before === 1) rmSync(ledgerOf(path));
      },
    });
    const everything = '{ kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }';
    try {
      const place = {
        config: configOf(path),
        sandbox: gate.url,
        ledger: ledgerOf(path),
        environment: {
          ...sealEnvironment,
          CRM_SYNC__serve__port: "0",
          CRM_SYNC__jobs: `{ everything: ${everything}, customers-and-orders: { enabled: false }, staff: { enabled: false },
            verify: { enabled: false }, monthly-report: { enabled: false } }`,
        },
      };
      const ended = await startCrmSync(place, "--json", "serve").ended;
      expect(refusalOf(ended)).toBe("ledger.gone");
      expect(gate.calls().writing).toBe(2);
    } finally {
      await gate.close();
      await sandbox.close();
    }
  });
});

/** A world with everything that the changes of the small world bring, on top of its base. */
function changedWorld(): SmallWorld {
  const of = (name: string): SmallWorld => changes[name]?.world ?? baseWorld;
  return {
    customers: of("E2 creates an enterprise").customers,
    orders: of("E5 places an order").orders,
    staff: [...of("M9 grants an asset").staff, ...of("M1 adds a member of staff").staff.slice(2)],
  };
}
const changedWished = { enterprises: 2, orders: 2, products: 4, addedStaff: 3, assignments: 2 };

/**
 * What was there when the write-ahead log had this many bytes: a crash then leaves a log of at most these, this
 * platform and these heads.
 */
interface Moment {
  logBytes: number;
  platform: readonly { suffix: string; bytes: Buffer }[];
  heads: string;
}

describe("a write-ahead log that is torn", () => {
  const recorded = join(folder.path, "recorded");
  const ledger = ledgerOf(recorded);
  const moments: Moment[] = [];
  let main: Buffer;
  let log: Buffer;
  let frames: Frame[];

  beforeAll(async () => {
    writeWorld(recorded);
    const sandbox = await openPlatform(platformOf(recorded));
    goodRunOf(await run(recorded, sandbox.url));
    writeWorld(recorded, changedWorld());
    const note = (): void => {
      const size = existsSync(`${ledger}-wal`) ? statSync(`${ledger}-wal`).size : 0;
      moments.push({
        logBytes: size,
        platform: ["", "-wal"].map((suffix) => ({ suffix, bytes: readFileSync(platformOf(recorded) + suffix) })),
        heads: readFileSync(headsPath(ledger), "utf8"),
      });
    };
    note();
    const gate = await startGate(sandbox.url, { before: note, after: note });
    // What another reader still looks at keeps the one that closes from emptying the log into the ledger.
    const reader = new Database(ledger, { readonly: true });
    reader.exec("begin");
    reader.prepare("select count(*) from audit").get();
    goodRunOf(await run(recorded, gate.url));
    main = readFileSync(ledger);
    log = readFileSync(`${ledger}-wal`);
    frames = framesOf(log);
    note();
    reader.close();
    await gate.close();
    await sandbox.close();
  });

  /** Puts the ledger with this log, a platform and heads into a folder. */
  function lay(path: string, torn: Buffer, moment: Moment): void {
    mkdirSync(path, { recursive: true });
    cpSync(recorded, path, {
      recursive: true,
      filter: (name) => name === recorded || /\.(?:ndjson|yaml)$/u.test(name),
    });
    writeFileSync(ledgerOf(path), main);
    writeFileSync(`${ledgerOf(path)}-wal`, torn);
    writeFileSync(headsPath(ledgerOf(path)), moment.heads);
    for (const { suffix, bytes } of moment.platform) writeFileSync(platformOf(path) + suffix, bytes);
  }

  /**
   * Ways to damage the log in one frame. Each takes that frame away, and all after it; a cut behind the frame only
   * those after it.
   */
  const ways: Record<string, { keeps: boolean; tear: (bytes: Buffer, frame: Frame) => Buffer }> = {
    "cut behind": { keeps: true, tear: (bytes, frame) => bytes.subarray(0, frame.end) },
    "cut in the head of": { keeps: false, tear: (bytes, frame) => bytes.subarray(0, frame.start + 11) },
    "cut in the page of": { keeps: false, tear: (bytes, frame) => bytes.subarray(0, frame.start + 24 + 1_777) },
    "with a bit flipped in the head of": {
      keeps: false,
      tear: (bytes, frame) => flipped(bytes, frame.start + 3, 0x01),
    },
    "with a bit flipped in the page of": {
      keeps: false,
      tear: (bytes, frame) => flipped(bytes, frame.end - 1_000, 0x10),
    },
  };

  const names = Object.keys(ways);

  /** Frame and way of each case: every frame, or so many spread over the log. */
  function* cases(): Generator<{ frame: Frame; way: string; name: string }> {
    const wanted = Math.min(frames.length, sizes.tornFrames);
    for (let index = 0; index < wanted; index += 1) {
      const frame = frames[Math.floor((index * frames.length) / wanted)];
      for (const [position, way] of names.entries()) {
        if (frame !== undefined && (isFull || position === index % names.length))
          yield { frame, way, name: `${way} frame ${frame.number} of ${frames.length}` };
      }
    }
  }

  function tornBy(way: string, frame: Frame): { torn: Buffer; committed: Frame | undefined } {
    const { keeps, tear } = ways[way] ?? { keeps: true, tear: (bytes: Buffer) => bytes };
    const kept = frames.filter((item) => item.end <= (keeps ? frame.end : frame.start));
    return { torn: tear(log, frame), committed: kept.findLast((item) => item.commits) };
  }

  it(
    `in ${isFull ? "any frame" : "frames spread over it"}: what SQLite finds is a state that was committed`,
    { tags: "long" },
    () => {
      const wrong: string[] = [];
      expect(frames.length).toBeGreaterThan(100);
      for (const { frame, way, name } of cases()) {
        const { torn, committed } = tornBy(way, frame);
        const path = newFolder();
        lay(path, torn, momentAt(moments, 0));
        const found = dumpOf(ledgerOf(path));
        writeFileSync(join(path, "image.db"), imageOf(main, log, frames, committed));
        const meant = dumpOf(join(path, "image.db"));
        const differ = dumpsDiffer(meant, found);
        if (differ.length > 0) wrong.push(`${name}: ${differ.join(", ")}`);
        if (!verifyRecord({ rows: auditEntries(ledgerOf(path)), heads: [] }).good)
          wrong.push(`${name}: the audit chain is broken`);
        rmSync(path, { recursive: true });
      }
      expect(wrong).toEqual([]);
    },
  );

  it(
    "by a crash: the next run settles what was in doubt and does the rest, once",
    { tags: "long", timeout: 3_600_000 },
    async () => {
      const wrong: string[] = [];
      const seen = new Set<number>();
      for (const { frame, way, name } of cases()) {
        const { torn, committed } = tornBy(way, frame);
        // Several tears leave the same state behind; one run for each is enough.
        if (seen.has(committed?.number ?? 0)) continue;
        seen.add(committed?.number ?? 0);
        const path = newFolder();
        lay(path, torn, momentAt(moments, committed?.end ?? 0));
        const sandbox = await openPlatform(platformOf(path));
        try {
          const ended = await run(path, sandbox.url);
          if (ended.exitCode !== 0) wrong.push(`${name}: exit ${ended.exitCode} ${ended.stdout}`);
          for (const item of await fullCheckOf(path, sandbox, changedWished)) wrong.push(`${name}: ${item}`);
          if (goodRunOf(await run(path, sandbox.url)).writingCalls > 0) wrong.push(`${name}: a third run sends`);
        } finally {
          await sandbox.close();
          rmSync(path, { recursive: true });
        }
      }
      expect(wrong).toEqual([]);
      expect(seen.size).toBeGreaterThan(10);
    },
  );

  it("after the run's head was kept: refused, for it lacks what that run did", { timeout: 3_600_000 }, async () => {
    const last = momentAt(moments, log.length);
    const head = readKeptHeads(headsPath(ledger)).at(-1)?.sequence ?? 0;
    const wrong: string[] = [];
    let refused = 0;
    const path = newFolder();
    lay(path, log, last);
    const sandbox = await openPlatform(platformOf(path));
    const seen = new Set<number>();
    for (const { frame, way, name } of cases()) {
      const { torn, committed } = tornBy(way, frame);
      if (seen.has(committed?.number ?? 0)) continue;
      seen.add(committed?.number ?? 0);
      for (const suffix of beside) rmSync(ledgerOf(path) + suffix, { force: true });
      writeFileSync(ledgerOf(path), main);
      writeFileSync(`${ledgerOf(path)}-wal`, torn);
      writeFileSync(headsPath(ledgerOf(path)), last.heads);
      const known = auditEntries(ledgerOf(path)).length >= head;
      const before = sandbox.counts().calls;
      const ended = await run(path, sandbox.url);
      if (known && (ended.exitCode !== 0 || goodRunOf(ended).writingCalls > 0)) wrong.push(`${name}: ${ended.stdout}`);
      if (known) continue;
      refused += 1;
      if (refusalOf(ended) !== "ledger.behind") wrong.push(`${name}: ${ended.stdout}`);
      if (sha256(JSON.stringify(sandbox.counts().calls)) !== sha256(JSON.stringify(before)))
        wrong.push(`${name}: a service was called`);
    }
    await sandbox.close();
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(10);
  });
});

function momentAt(moments: readonly Moment[], logBytes: number): Moment {
  const found = moments.findLast((moment) => moment.logBytes <= logBytes) ?? moments[0];
  if (found === undefined) throw new Error("nothing was recorded");
  return found;
}

function flipped(bytes: Buffer, at: number, bits: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ bits, at);
  return copy;
}

/** The base of the small world this many times over. */
function manyTimes(count: number): SmallWorld {
  return together(...Array.from({ length: count }, (_, index) => again(baseWorld, `x${index + 1}`)));
}

describe("a flipped bit in a page of the ledger", () => {
  const seed = 20_261_121;

  it(
    `is refused, or stands in unused space, or changes a value that SQLite cannot know to be wrong; nothing is sent (seed ${seed})`,
    { tags: "long", timeout: 7_200_000 },
    async ({ annotate }) => {
      const path = newFolder();
      const ledger = ledgerOf(path);
      writeWorld(path, isFull ? manyTimes(112) : baseWorld);
      const sandbox = await openPlatform(":memory:");
      goodRunOf(await run(path, sandbox.url));
      const whole = readFileSync(ledger);
      const heads = readFileSync(headsPath(ledger));
      const was = dumpOf(ledger);
      const pages = whole.length / 4096;
      const fraction = seededFraction(seed);
      const wrong: string[] = [];
      const tally = { refused: 0, harmless: 0, changed: 0, unread: 0 };
      const wanted = Math.min(pages, sizes.flippedPages);
      for (let index = 0; index < wanted; index += 1) {
        const page = Math.floor((index * pages) / wanted);
        for (const offset of [0, 3, 100 + Math.floor(fraction() * 1_900), 2_000 + Math.floor(fraction() * 2_096)]) {
          const name = `page ${page + 1} of ${pages}, byte ${offset}`;
          const at = page * 4096 + offset;
          const bits = 1 << Math.floor(fraction() * 8);
          for (const suffix of [...beside, ".lock"]) rmSync(ledger + suffix, { force: true });
          writeFileSync(ledger, flipped(whole, at, bits));
          writeFileSync(headsPath(ledger), heads);
          const now = readable(ledger);
          const before = sandbox.counts().writingCalls;
          const ended = await run(path, sandbox.url);
          if (sandbox.counts().writingCalls > before) wrong.push(`${name}: something was sent`);
          if (ended.exitCode === exitCodes.ledgerRefused) {
            refusalOf(ended);
            tally.refused += 1;
            continue;
          }
          // A changed value may be noticed by what a run counts or by the shape of a record: then the run says so.
          const told: readonly (number | null)[] = [exitCodes.ok, exitCodes.recordsRejected, exitCodes.doesNotBalance];
          if (!told.includes(ended.exitCode))
            wrong.push(`${name}: exit ${ended.exitCode} ${ended.stdout}${ended.stderr}`);
          if (now === undefined) {
            // The head of one row: SQLite's look at the structure passes over it, and whoever reads the row is refused.
            // This run did not.
            tally.unread += 1;
            continue;
          }
          const differ = dumpsDiffer(was, now);
          tally[differ.length === 0 ? "harmless" : "changed"] += 1;
          if (differ.length === 0 && ended.exitCode !== 0)
            wrong.push(`${name}: nothing is changed, and exit ${ended.exitCode}`);
          // One value of one table, and in the audit record it is found by name.
          if (differ.length > 1) wrong.push(`${name}: changed ${differ.join(", ")}`);
          const verdict = verifyRecord({ rows: auditEntries(ledger), heads: readKeptHeads(headsPath(ledger)) });
          if (verdict.good !== (differ[0] !== "audit"))
            wrong.push(`${name}: the audit chain is called good: ${verdict.good}`);
        }
      }
      await sandbox.close();
      await annotate(`${wanted} of ${pages} pages, 4 bits each: ${JSON.stringify(tally)}`);
      expect(wrong).toEqual([]);
      expect(tally.refused + tally.harmless + tally.changed + tally.unread).toBe(wanted * 4);
      expect(tally.refused).toBeGreaterThan(0);
      expect(tally.harmless).toBeGreaterThan(0);
      expect(tally.unread).toBeLessThan(tally.refused / 100 + 2);
      if (isFull) expect(wanted).toBe(sizes.flippedPages);
    },
  );
});

function auditEntries(path: string): AuditRow[] {
  const ledger = new LedgerView(path);
  try {
    return ledger.auditEntries();
  } finally {
    ledger.close();
  }
}

function readable(path: string): Dump | undefined {
  try {
    return dumpOf(path);
  } catch {
    return undefined;
  } finally {
    for (const suffix of beside) rmSync(path + suffix, { force: true });
  }
}
