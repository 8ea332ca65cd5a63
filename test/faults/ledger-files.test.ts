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
import { exitCodes } from "../../src/base/errors.ts";
import { verifyRecord } from "../../src/ledger/audit/verify-log.ts";
import type { AuditRow } from "../../src/ledger/audit/audit-log.ts";
import { headsPath, readKeptHeads } from "../../src/ledger/audit/audit-heads.ts";
import { seededFraction } from "../../src/sandbox/faults.ts";
import { Cells, type Cell } from "../support/cells.ts";
import { dumpOf, dumpsDiffer, framesOf, imageOf, type Dump, type Frame } from "../support/ledger-bytes.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf, type Ended } from "../support/program.ts";
import { isFull, sampled, sizes } from "../support/sizes.ts";
import {
  again,
  base,
  changeOf,
  ledgerOf,
  platformOf,
  together,
  writeWorld,
  type SmallWorld,
} from "../support/world/small.ts";

/**
 * What happens to the files of a ledger from outside: taken away while a run is on, torn, flipped. No fault here may
 * bring a call about.
 */
const cells = new Cells();
afterAll(() => cells.remove());
let worlds = 0;

function newFolder(): string {
  worlds += 1;
  return cells.place(`world-${worlds}`);
}

/** The code that a refusal of the ledger came with; anything else fails the test. */
function refusalOf(ended: Ended): string {
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(exitCodes.ledgerRefused);
  const { error } = JSON.parse(ended.stdout);
  expect(error.cure).not.toBe("");
  return error.code;
}

const beside = ["-wal", "-shm"];

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
      for (const suffix of ["", "-wal"]) copyFileSync(ledger + suffix, `${ledger}.new${suffix}`);
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

const harmed = Object.keys(harms).flatMap((name) =>
  (isFull ? (["E2", "E9", "E5", "M1"] as const) : (["E5"] as const)).map((operation) => [name, operation] as const),
);

describe("a ledger that is harmed while a run is on", () => {
  it.each(sampled(harmed))(
    "has nothing sent any more, and the next run knows: it %s at %s",
    async (name, operation) => {
      const { harm, code, cure, next } = harms[name] ?? {};
      const folder = newFolder();
      writeWorld(folder);
      await cells.open(folder, {}, async (cell) => {
        const stop = cell.stopsAt(operation);
        const running = cell.run();
        await stop.reached;
        harm?.(cell.ledger);
        const { writingCalls } = cell.sandbox.counts();
        stop.goOn();
        expect(refusalOf(await running)).toBe(code);
        expect(cell.sandbox.counts().writingCalls).toBe(writingCalls);
        cure?.(cell.ledger);
        if (next === "ends well") {
          await cell.comesToRest();
          expect(await cell.wrong({})).toEqual([]);
          return;
        }
        expect(refusalOf(await cell.run())).toBe(next);
        expect(cell.sandbox.counts().writingCalls).toBe(writingCalls);
      });
    },
  );
});

describe("a ledger that is deleted while serve runs a job on it", () => {
  it("ends serve with what happened, and no more calls", { tags: "long" }, async () => {
    const folder = newFolder();
    writeWorld(folder);
    const everything = '{ kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }';
    const settings = {
      CRM_SYNC__serve__port: "0",
      CRM_SYNC__jobs: `{ everything: ${everything}, customers-and-orders: { schedule: null }, staff: { schedule: null },
        verify: { schedule: null }, monthly-report: { schedule: null } }`,
    };
    await cells.open(folder, settings, async (cell) => {
      await cell.missesItsJobs();
      const stop = cell.stopsAt("E5");
      const serving = startCrmSync(cell.ownPlace, "--json", "serve");
      await stop.reached;
      rmSync(cell.ledger);
      const { writingCalls } = cell.sandbox.counts();
      stop.goOn();
      expect(refusalOf(await serving.ended)).toBe("ledger.gone");
      expect(cell.sandbox.counts().writingCalls).toBe(writingCalls);
    });
  });
});

/** A world with everything that the changes of the small world bring, on top of its base. */
function changedWorld(): SmallWorld {
  const of = (name: string): SmallWorld => changeOf(name).world;
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
  const recorded = cells.place("recorded");
  const ledger = ledgerOf(recorded);
  const moments: Moment[] = [];
  let main: Buffer;
  let log: Buffer;
  let frames: Frame[];

  beforeAll(async () => {
    writeWorld(recorded);
    const note = (): void => {
      const size = existsSync(`${ledger}-wal`) ? statSync(`${ledger}-wal`).size : 0;
      moments.push({
        logBytes: size,
        platform: ["", "-wal"].map((suffix) => ({ suffix, bytes: readFileSync(platformOf(recorded) + suffix) })),
        heads: readFileSync(headsPath(ledger), "utf8"),
      });
    };
    let isNoted = false;
    const gate = async (): Promise<void> => {
      if (isNoted) note();
      await Promise.resolve();
    };
    const record = async (cell: Cell): Promise<void> => {
      goodRunOf(await cell.run());
      writeWorld(recorded, changedWorld());
      note();
      isNoted = true;
      // What another reader still looks at keeps the one that closes from emptying the log into the ledger.
      const reader = new Database(ledger, { readonly: true });
      reader.exec("begin");
      reader.prepare("select count(*) from audit").get();
      goodRunOf(await cell.run());
      main = readFileSync(ledger);
      log = readFileSync(`${ledger}-wal`);
      frames = framesOf(log);
      note();
      reader.close();
    };
    await cells.open(recorded, {}, record, { gate });
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
        await cells.open(path, {}, async (cell) => {
          const ended = await cell.run();
          if (ended.exitCode !== 0) wrong.push(`${name}: exit ${ended.exitCode} ${ended.stdout}`);
          for (const item of await cell.wrong(changedWished)) wrong.push(`${name}: ${item}`);
          if (goodRunOf(await cell.run()).writingCalls > 0) wrong.push(`${name}: a third run sends`);
        });
        rmSync(path, { recursive: true });
      }
      expect(wrong).toEqual([]);
      expect(seen.size).toBeGreaterThan(sizes.tornFrames / 4);
    },
  );

  it(
    "after the run's head was kept: refused, for it lacks what that run did",
    { tags: "long", timeout: 3_600_000 },
    async () => {
      const last = momentAt(moments, log.length);
      const head = readKeptHeads(headsPath(ledger)).at(-1)?.sequence ?? 0;
      const wrong: string[] = [];
      let refused = 0;
      const path = newFolder();
      lay(path, log, last);
      await cells.open(path, {}, async (cell) => {
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
          const before = JSON.stringify(cell.sandbox.counts().calls);
          const ended = await cell.run();
          if (known) {
            if (ended.exitCode !== 0 || goodRunOf(ended).writingCalls > 0) wrong.push(`${name}: ${ended.stdout}`);
            continue;
          }
          refused += 1;
          if (refusalOf(ended) !== "ledger.behind") wrong.push(`${name}: ${ended.stdout}`);
          if (JSON.stringify(cell.sandbox.counts().calls) !== before) wrong.push(`${name}: a service was called`);
        }
      });
      expect(wrong).toEqual([]);
      expect(refused).toBeGreaterThan(sizes.tornFrames / 4);
    },
  );
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
  return together(...Array.from({ length: count }, (_, index) => again(base, `x${index + 1}`)));
}

describe("a flipped bit in a page of the ledger", () => {
  const seed = 20_261_121;

  it(
    `is refused, or stands in unused space, or changes a value that SQLite cannot know to be wrong; nothing is sent (seed ${seed})`,
    { tags: "long", timeout: 7_200_000 },
    async ({ annotate }) => {
      const path = newFolder();
      const ledger = ledgerOf(path);
      writeWorld(path, isFull ? manyTimes(112) : base);
      await cells.open(path, {}, async (cell) => void goodRunOf(await cell.run()));
      const whole = readFileSync(ledger);
      const heads = readFileSync(headsPath(ledger));
      const was = dumpOf(ledger);
      const pages = whole.length / 4096;
      const fraction = seededFraction(seed);
      const wrong: string[] = [];
      const tally = { refused: 0, harmless: 0, changed: 0, unread: 0 };
      const wanted = Math.min(pages, sizes.flippedPages);
      const tryThem = async (cell: Cell): Promise<void> => {
        const { sandbox } = cell;
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
            const ended = await cell.run();
            if (sandbox.counts().writingCalls > before) wrong.push(`${name}: something was sent`);
            if (ended.exitCode === exitCodes.ledgerRefused) {
              refusalOf(ended);
              tally.refused += 1;
              continue;
            }
            // A changed value may be noticed by what a run counts or by the shape of a record: then the run says so.
            const told: readonly (number | null)[] = [
              exitCodes.ok,
              exitCodes.recordsRejected,
              exitCodes.doesNotBalance,
            ];
            if (!told.includes(ended.exitCode))
              wrong.push(`${name}: exit ${ended.exitCode} ${ended.stdout}${ended.stderr}`);
            if (now === undefined) {
              // The head of one row: SQLite's look at the structure passes over it, and whoever reads the row is
              // refused. This run did not.
              tally.unread += 1;
              continue;
            }
            const differ = dumpsDiffer(was, now);
            tally[differ.length === 0 ? "harmless" : "changed"] += 1;
            if (differ.length === 0 && ended.exitCode !== 0)
              wrong.push(`${name}: nothing is changed, and exit ${ended.exitCode}`);
            // One value of one table, and in the audit log it is found by name.
            if (differ.length > 1) wrong.push(`${name}: changed ${differ.join(", ")}`);
            const verdict = verifyRecord({ rows: auditEntries(ledger), heads: readKeptHeads(headsPath(ledger)) });
            if (verdict.good !== (differ[0] !== "audit"))
              wrong.push(`${name}: the audit chain is called good: ${verdict.good}`);
          }
        }
      };
      await cells.open(path, {}, tryThem);
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
