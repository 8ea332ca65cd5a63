/** @module-tag sized */
import { cpSync, chmodSync, chownSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { seededFraction } from "../../src/sandbox/faults.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { startService, type Answer } from "../source/http-service.ts";
import type { Asked } from "../support/http-server.ts";
import { whyNotAsNobody } from "../support/as-user.ts";
import { crmSync, goodRunOf, runJob } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { sampled, sizes } from "../support/sizes.ts";
import { configOf, ledgerOf, platformOf } from "../support/world/small.ts";
import { sealEnvironment } from "../support/world/crm.ts";
import {
  filesOf,
  formats,
  laterExport,
  peopleOf,
  wholeExport,
  writeExport,
  type Format,
  type HttpShape,
} from "./exports.ts";
import { latin1, lines, people, shrank, tables, type People, type Trouble } from "./source-troubles.ts";

/**
 * A source that is not what it should be takes nothing away: the platform is as it was, judged by itself, the run
 * balances and says which source, which file and what to do; what else changed is done. When the source is whole again
 * the next run ends well, and the one after it has nothing to send.
 */

const folder = temporaryFolder();
const baseOf = (format: Format): string => join(folder.path, `base-${format}`);
let cells = 0;

async function openPlatform(path: string): Promise<Sandbox> {
  return await newSandbox({ store: platformOf(path) });
}

interface World {
  path: string;
  sandbox: Sandbox;
}

function options({ path, sandbox }: World) {
  return { config: configOf(path), sandbox: sandbox.url, ledger: ledgerOf(path), environment: sealEnvironment };
}

/** A run that has to end well. */
async function goodRun(world: World): Promise<number> {
  return goodRunOf(await runJob(options(world))).writingCalls;
}

interface Told {
  code: number | null;
  /** What it says to people. */
  text: string;
  /** Writing calls by operation, counted by the platform. */
  calls: Record<string, number>;
}

async function tellingRun(world: World): Promise<Told> {
  const before = world.sandbox.counts();
  const { exitCode: code, stdout, stderr } = await crmSync(options(world), "run", "everything");
  const after = world.sandbox.counts();
  const writes = Object.entries(after.calls).map(([name, count]) => [name, count - (before.calls[name] ?? 0)] as const);
  const calls = Object.fromEntries(
    writes.filter(([name, count]) => count > 0 && /^(?:E[1245679]|M[123491]0?)$/u.test(name)),
  );
  expect(Object.values(calls).reduce((sum, count) => sum + count, 0)).toBe(after.writingCalls - before.writingCalls);
  return { code, text: `${stdout}\n${stderr}`, calls };
}

const lastRun = z.object({ state: z.string(), balance: z.string() });

function lastRunBalances(path: string): void {
  const view = new LedgerView(ledgerOf(path));
  try {
    const [run] = view.rows(lastRun, "select state, balance from run order by started_at desc, id desc limit 1");
    expect(run?.state).toBe("done");
    expect(JSON.parse(run?.balance ?? "{}")).toMatchObject({ adds: true });
  } finally {
    view.close();
  }
}

/** The platform without what is told of it by the way. */
function held({ sandbox }: World): unknown {
  const { enterprises, assets, products, merchandises, assignments, orders } = sandbox.state();
  return { enterprises, assets, products, merchandises, assignments, orders };
}

/** A service that gives the people's list whole, in pages of the size that it is asked for. */
function giving(people: readonly unknown[]): (asked: Asked) => Answer {
  return ({ query }) => {
    const size = Number(query["size"] ?? people.length);
    const page = Number(query["page"] ?? 1);
    return { body: { people: people.slice((page - 1) * size, page * size), total: people.length } };
  };
}

interface Service {
  origin: string;
  answer: (asked: Asked, number: number) => Answer;
}

async function startPeople(): Promise<Service> {
  const service: Service = { origin: "", answer: giving(peopleOf(wholeExport())) };
  const { origin } = await startService((asked, number) => service.answer(asked, number));
  service.origin = origin;
  return service;
}

beforeAll(async () => {
  for (const format of formats) {
    if (format === "http") continue;
    await makeBase(format);
  }
});
afterAll(() => folder.remove());

async function makeBase(format: Format, service?: Service): Promise<void> {
  const path = baseOf(format);
  writeExport(
    path,
    format,
    wholeExport(),
    service === undefined ? undefined : { origin: service.origin, shape: "whole" },
  );
  const sandbox = await openPlatform(path);
  try {
    await goodRun({ path, sandbox });
    expect(sandbox.state()).toMatchObject({ enterprises: 4, assets: 20, addedStaff: 20, assignments: 20 });
    expect(await goodRun({ path, sandbox })).toBe(0);
  } finally {
    await sandbox.close();
  }
}

const someAtOnce = pLimit(6);

async function inWorld(format: Format, work: (world: World) => Promise<void>): Promise<void> {
  await someAtOnce(async () => {
    cells += 1;
    const path = join(folder.path, `cell-${cells}`);
    cpSync(baseOf(format), path, { recursive: true });
    const sandbox = await openPlatform(path);
    try {
      await work({ path, sandbox });
    } finally {
      await sandbox.close();
      rmSync(path, { recursive: true, force: true });
    }
  });
}

/** Two runs with the spoiled source and two with the whole one, and what has to be true after each. */
async function judge(world: World, trouble: Trouble, spoil: () => void, mend: () => void): Promise<void> {
  const before = held(world);
  const staff = world.sandbox.state().addedStaff;
  spoil();
  const stop = trouble.during?.(world.path);
  const told = await tellingRun(world);
  stop?.();
  expect(told.text, told.text).toMatch(trouble.says);
  expect(told.code, told.text).toBe(trouble.exit);
  if (trouble.exit === 7) expect(told.text, "a cure").toMatch(/source \w+\/staff: .+\n +→ [`\w]/u);
  lastRunBalances(world.path);
  expect(told.calls).toEqual({ E4: 1, ...(trouble.newcomer ? { M1: 1 } : {}) });
  expect(held(world)).toEqual(before);
  expect(world.sandbox.state().addedStaff).toBe(staff + (trouble.newcomer ? 1 : 0));
  // A reading that was complete could have been believed more with every time.
  if (trouble.exit !== 7 || trouble.says === shrank) {
    const again = await tellingRun(world);
    expect(again.code, again.text).toBe(trouble.exit);
    expect(again.calls).toEqual({});
    lastRunBalances(world.path);
  }
  trouble.after?.(world.path);
  mend();
  // Pages may have moved between the parts of a reading: it counts as incomplete, and the next run reads everything.
  const parts = trouble.isCut === true ? await tellingRun(world) : undefined;
  if (parts !== undefined) {
    expect(parts.text).toMatch(/was read in parts/u);
    expect(parts.code).toBe(7);
  }
  expect((parts?.calls["M1"] ?? 0) + (await goodRun(world))).toBe(trouble.newcomer ? 0 : 1);
  expect(held(world)).toEqual(before);
  expect(world.sandbox.state().addedStaff).toBe(staff + 1);
  expect(await goodRun(world)).toBe(0);
}

describe.concurrent.each(tables)("an export in the format %s", (format, table) => {
  it.each(sampled(Object.entries(table), 3))(
    "%s: nothing is taken away, and what else changed is done",
    { tags: "long" },
    async (_, trouble) => {
      await inWorld(format, async (world) => {
        const path = join(world.path, trouble.file);
        const spoil = (): void => {
          writeExport(world.path, format, laterExport());
          const spoilt = trouble.spoil(filesOf(format, laterExport())[trouble.file] ?? "", path);
          if (spoilt !== undefined) writeFileSync(path, spoilt);
        };
        await judge(world, trouble, spoil, () => writeExport(world.path, format, laterExport()));
      });
    },
  );
});

const closedToNobody = whyNotAsNobody();

describe.runIf(closedToNobody !== undefined)("an export that the program may not read", () => {
  it(`is NOT tried here, nothing is shown about it: ${closedToNobody}`, () => expect(closedToNobody).toBeDefined());
});

describe.runIf(closedToNobody === undefined)("an export that the program may not read", () => {
  it(
    "takes nothing away, and what else changed is done (where this is run by root, the program works as nobody)",
    { tags: "long" },
    async () => {
      await inWorld("csv", async (world) => {
        const file = join(world.path, "staff.csv");
        const release = asNobody(world.path);
        try {
          await judge(
            world,
            { exit: 7, says: /The file staff\.csv cannot be read: this user may not read it\./u, newcomer: false },
            () => {
              writeExport(world.path, "csv", laterExport());
              chmodSync(file, 0);
            },
            () => writeExport(world.path, "csv", laterExport()),
          );
        } finally {
          release();
        }
      });
    },
  );
});

/** Root may read everything: what is done until it is called off is done as nobody, to whom the folder is given. */
function asNobody(path: string): () => void {
  if (process.getuid?.() !== 0 || process.seteuid === undefined) return () => undefined;
  const nobody = 65_534;
  chmodSync(folder.path, 0o711);
  for (const name of [".", ...readdirSync(path)]) chownSync(join(path, name), nobody, nobody);
  process.seteuid(nobody);
  return () => process.seteuid?.(0);
}

interface HttpTrouble extends Trouble {
  shape: HttpShape;
  answer: (whole: (asked: Asked) => Answer) => (asked: Asked, number: number) => Answer;
}

const listed = (asked: Asked, whole: (asked: Asked) => Answer): People => people.parse(whole(asked).body).people;
const page = (asked: Asked): number => Number(asked.query["page"] ?? 1);

const httpTroubles: Record<string, HttpTrouble> = {
  "lacks a page, whatever its total says": {
    shape: "total",
    answer: (whole) => (asked) => (page(asked) === 3 ? { body: { people: [], total: 21 } } : whole(asked)),
    exit: 7,
    says: /source hr, stream staff says that it has 21 records, but gave 10/u,
    newcomer: true,
  },
  "lacks a page, and says no total": {
    shape: "pages",
    answer: (whole) => (asked) => (page(asked) === 3 ? { body: { people: [] } } : whole(asked)),
    exit: 7,
    says: /source hr, stream staff gave a page that held no record, and then more/u,
    newcomer: true,
  },
  "gives a page twice": {
    shape: "total",
    answer: (whole) => (asked) =>
      page(asked) === 3 ? whole({ ...asked, query: { ...asked.query, page: "1" } }) : whole(asked),
    exit: 7,
    says: /gave the record S\d-\d 2 times; the list changed while it was read/u,
    newcomer: true,
  },
  "gives one page for ever": {
    shape: "pages",
    answer: (whole) => (asked) => whole({ ...asked, query: { ...asked.query, page: "1" } }),
    exit: 7,
    says: /source hr, stream staff gave the same page twice/u,
    newcomer: true,
  },
  "speaks of more than it gives": {
    shape: "total",
    answer: (whole) => (asked) => ({ body: { people: listed(asked, whole), total: 40 } }),
    exit: 7,
    says: /says that it has 40 records, but gave 21/u,
    newcomer: true,
  },
  "speaks of less than it gives, at the end of a page": {
    shape: "total",
    answer: (whole) => (asked) => ({ body: { people: listed(asked, whole), total: 15 } }),
    exit: 7,
    says: /says that it has 15 records, but gave 21/u,
    newcomer: true,
  },
  "speaks of less than it gives, inside a page": {
    shape: "total",
    answer: (whole) => (asked) => ({ body: { people: listed(asked, whole), total: 18 } }),
    exit: 7,
    says: /says that it has 18 records, but gave 21/u,
    newcomer: true,
  },
  "answers 500 in the middle": {
    shape: "pages",
    answer: (whole) => (asked) => (page(asked) === 3 ? { status: 500, body: "oops" } : whole(asked)),
    exit: 7,
    isCut: true,
    says: /source hr, stream staff answers HTTP 500/u,
    newcomer: true,
  },
  "breaks off in the middle of an answer": {
    shape: "pages",
    answer: (whole) => (asked) => (page(asked) === 3 ? { breakOff: true } : whole(asked)),
    exit: 7,
    isCut: true,
    says: /source hr, stream staff gave no whole answer: the connection broke off/u,
    newcomer: true,
  },
  "cuts an answer and gives the length of what is left": {
    shape: "pages",
    answer: (whole) => (asked) => ({
      body: JSON.stringify(whole(asked).body).slice(0, page(asked) === 3 ? 200 : undefined),
    }),
    exit: 7,
    isCut: true,
    says: /source hr, stream staff answers with text that is not JSON, or was cut off/u,
    newcomer: true,
  },
  "answers with an empty list": {
    shape: "whole",
    answer: () => () => ({ body: { people: [], total: 0 } }),
    exit: 7,
    says: /source hr\/staff: the source lost 20 of 20 records/u,
    newcomer: false,
  },
  "answers with an empty object": {
    shape: "whole",
    answer: () => () => ({ body: {} }),
    exit: 7,
    says: /source hr, stream staff answers with JSON without a list at people/u,
    newcomer: false,
  },
  "answers with its login page": {
    shape: "whole",
    answer: () => () => ({ headers: { "content-type": "text/html" }, body: "<html><form>Login</form></html>" }),
    exit: 7,
    says: /source hr, stream staff answers with a web page and no data/u,
    newcomer: false,
  },
  "answers in Latin-1": {
    shape: "whole",
    answer: (whole) => (asked) => ({ body: latin1(JSON.stringify(whole(asked).body)) }),
    exit: 7,
    says: /answers with bytes that are not UTF-8/u,
    newcomer: false,
  },
  "lost a fifth of its records": {
    shape: "whole",
    answer: (whole) => (asked) => ({ body: { people: listed(asked, whole).slice(0, 16) } }),
    exit: 7,
    says: shrank,
    newcomer: true,
  },
};

describe("an export over HTTP", () => {
  it.each(sampled(Object.entries(httpTroubles), 3))(
    "%s: nothing is taken away, and what else changed is done",
    { tags: "long" },
    async (_, trouble) => {
      const service = await startPeople();
      if (!madeOverHttp) {
        await makeBase("http", service);
        madeOverHttp = true;
      }
      await inWorld("http", async (world) => {
        const whole = giving(peopleOf(laterExport()));
        writeExport(world.path, "http", laterExport(), { origin: service.origin, shape: trouble.shape });
        await judge(
          world,
          { ...trouble, says: new RegExp(trouble.says.source.replaceAll("crm", "hr"), "u") },
          () => {
            service.answer = trouble.answer(whole);
          },
          () => {
            service.answer = whole;
          },
        );
      });
    },
  );
});
let madeOverHttp = false;

describe.concurrent("an export that was cut", () => {
  const cuts = (format: Format): number => Math.ceil(sizes.cuts / 4) + (format === "csv" ? sizes.cuts % 4 : 0);
  const kinds: Format[] = ["csv", "joined", "ndjson", "json"];

  it.each(kinds)(
    `anywhere, in the format %s (${sizes.cuts} cuts in all, seed 7): nothing is written, and the run says what is wrong`,
    { tags: "long", timeout: 1_200_000 },
    async (format) => {
      await inWorld(format, async (world) => {
        const before = held(world);
        const writes = world.sandbox.counts().writingCalls;
        const fraction = seededFraction(7 + kinds.indexOf(format));
        const whole = filesOf(format, wholeExport());
        const names = Object.keys(whole);
        let unnoticed = 0;
        for (let cut = 0; cut < cuts(format); cut += 1) {
          // Every second cut meets what people hold; a third of them falls into the last rows, where no share is lost
          // that anybody would notice.
          const file = cut % 2 === 0 ? (names.at(-1) ?? "") : (names[Math.floor(fraction() * names.length)] ?? "");
          const bytes = Buffer.from(whole[file] ?? "");
          const from = cut % 3 === 0 ? bytes.length - 150 : 0;
          let at = Math.floor(from + fraction() * (bytes.length - from));
          // Between two rows of what people hold, a few of them gone: see below.
          if (file === "holds.csv" && bytes[at - 1] === 10) at -= 1;
          const where = `${file} cut at byte ${at} of ${bytes.length}`;
          writeFileSync(join(world.path, file), bytes.subarray(0, at));
          const told = await tellingRun(world);
          expect(told.calls, where).toEqual({});
          lastRunBalances(world.path);
          const last = bytes.subarray(0, at).toString("latin1").at(-1);
          const atBoundary = last === "\n" || at === 0 || (format === "ndjson" && bytes[at] === 10);
          if (told.code === 0) unnoticed += 1;
          expect(atBoundary ? [0, 3, 7] : [7], `${where}\n${told.text}`).toContain(told.code);
          writeFileSync(join(world.path, file), bytes);
          if (told.code !== 7 || cut % 4 === 3) expect(await goodRun(world), where).toBe(0);
        }
        expect(held(world)).toEqual(before);
        expect(world.sandbox.counts().writingCalls).toBe(writes);
        if (format === "json") expect(unnoticed).toBe(0);
      });
    },
  );

  it(
    "between two rows looks like a whole one: what is missing is kept, because it would have to be missed three times",
    { tags: "long" },
    async () => {
      for (const format of ["csv", "ndjson"] as const) {
        await inWorld(format, async (world) => {
          const file = format === "csv" ? "staff.csv" : "staff.ndjson";
          const whole = filesOf(format, wholeExport())[file] ?? "";
          const before = held(world);
          writeFileSync(join(world.path, file), lines(whole).slice(0, -3).join(""));
          for (let read = 0; read < 2; read += 1) {
            const { code, calls } = await tellingRun(world);
            expect([code, calls]).toEqual([0, {}]);
          }
          writeFileSync(join(world.path, file), whole);
          expect(await goodRun(world)).toBe(0);
          expect(held(world)).toEqual(before);
        });
      }
    },
  );
});

describe("a file of details that was cut between two rows, with less than a fifth gone", () => {
  it("looks like people who hold less, which is believed at once; where its writer leaves a marker, nothing is read before it", async () => {
    await inWorld("joined", async (world) => {
      const file = join(world.path, "holds.csv");
      const before = held(world);
      const config = configOf(world.path);
      const text = readFileSync(config, "utf8");
      const marked = text.replace(
        /"files": "holds\.csv",/u,
        '"files": "holds.csv", "completeWhen": { "file": "{file}.done" },',
      );
      expect(marked).not.toBe(text);
      writeFileSync(config, marked);
      const whole = readFileSync(file, "utf8");
      writeFileSync(file, lines(whole).slice(0, -1).join(""));
      const told = await tellingRun(world);
      expect([told.code, told.calls]).toEqual([7, {}]);
      expect(told.text).toContain("The file holds.csv is not finished: its marker {file}.done is missing.");
      writeFileSync(file, whole);
      writeFileSync(`${file}.done`, "");
      expect(await goodRun(world)).toBe(0);
      expect(held(world)).toEqual(before);
      writeFileSync(file, lines(whole).slice(0, -1).join(""));
      writeFileSync(`${file}.done`, "");
      expect(await tellingRun(world)).toMatchObject({ code: 0, calls: { M9: 1 } });
    });
  });
});

describe("records that cannot be read", () => {
  it("are listed with their file, line and reason", async () => {
    await inWorld("ndjson", async (world) => {
      const text = filesOf("ndjson", wholeExport())["staff.ndjson"] ?? "";
      writeFileSync(join(world.path, "staff.ndjson"), latin1(text));
      expect((await tellingRun(world)).code).toBe(3);
      const list = await crmSync(options(world), "quarantine", "list");
      expect(list.stdout).toMatch(/wrong-encoding .+staff\.ndjson:1 +the line has bytes that are not UTF-8/u);
    });
  });
});
