import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/base/canonical-json.ts";
import { anyGroup, runAs, whyNotAsNobody, type Line } from "../../support/as-user.ts";
import { quarantined } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { newSandbox } from "../../support/world/start.ts";

/** @module-tag long */

/** Kind, mode and group of a folder and of every file and folder under it, by its path. */
function rightsUnder(path: string, name = ""): Record<string, string> {
  const now = statSync(path);
  const kind = now.isDirectory() ? "folder" : "file";
  const own = { [name]: `${kind} ${(now.mode & 0o777).toString(8)} ${now.gid}` };
  if (kind === "file") return own;
  return Object.assign(own, ...readdirSync(path).map((one) => rightsUnder(join(path, one), join(name, one))));
}

async function withUmask<T>(mask: number, work: () => Promise<T>): Promise<T> {
  const before = process.umask(mask);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

const ledgerOf = (w: World): string => w.path("state/here/ledger.db");

/** A world whose ledger is in folders that are not there yet, with everything beside it that the program writes. */
async function written(mask: number, group?: string): Promise<World> {
  const w = await world();
  w.environment["CRM_SYNC__ledger__path"] = ledgerOf(w);
  if (group !== undefined) w.environment["CRM_SYNC__ledger__group"] = group;
  const beside = (name: string): string[] => ["--out", join(ledgerOf(w), "..", name)];
  await withUmask(mask, async () => {
    for (const words of [
      ["run", "everything"],
      ["run", "monthly-report"],
      ["plan", ...beside("plan.ndjson")],
      ["audit", "export", ...beside("audit.ndjson")],
      ["report", "orders", "--period", "2026-10", ...beside("orders.csv")],
    ])
      expect((await w.run(...words)).exitCode, words.join(" ")).toBe(0);
  });
  return w;
}

const names = ["", ".heads", ".lock"].map((suffix) => `here/ledger.db${suffix}`);

describe("what the program writes", () => {
  it("is for its owner alone, also when it was open before; folders that were there stay as they are", async () => {
    const w = await written(0o022);
    const rights = rightsUnder(w.path("state"));
    expect(Object.keys(rights)).toEqual(expect.arrayContaining([...names, "here/plan.ndjson", "here/audit.ndjson"]));
    expect(Object.keys(rights).filter((name) => name.startsWith("here/reports/")).length).toBeGreaterThan(0);
    const own = process.getgid?.();
    expect(new Set(Object.values(rights))).toEqual(new Set([`file 600 ${own}`, `folder 700 ${own}`]));

    const store = w.path("sandbox.db");
    const sandbox = await withUmask(0, () => newSandbox({ store }));
    for (const suffix of ["", "-wal"]) expect(statSync(store + suffix).mode & 0o777, suffix).toBe(0o600);
    await sandbox.close();

    const files = ["", ".heads", ".lock"].map((suffix) => ledgerOf(w) + suffix);
    for (const file of files) chmodSync(file, 0o644);
    chmodSync(w.path("state"), 0o755);
    await w.run("run", "everything");
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(statSync(w.path("state")).mode & 0o777).toBe(0o755);

    const nowhere = w.path("no/such/folder/orders.csv");
    expect((await w.run("report", "orders", "--period", "2026-10", "--out", nowhere)).exitCode).toBe(64);
    expect(existsSync(w.path("no"))).toBe(false);
    w.environment["CRM_SYNC__ledger__group"] = "no-such-group";
    expect((await w.run("run", "everything")).exitCode).toBe(78);
  });

  it("is for the group of ledger.group too, under any umask; a plan is for who made it", async () => {
    const group = anyGroup();
    const w = await written(0o000, group.name);
    const { "here/plan.ndjson": plan, ...rights } = rightsUnder(w.path("state"));
    expect(Object.keys(rights)).toEqual(expect.arrayContaining(names));
    expect(new Set(Object.values(rights))).toEqual(new Set([`file 640 ${group.id}`, `folder 750 ${group.id}`]));
    expect(plan).toContain("file 600");
  });
});

const closedToNobody = whyNotAsNobody() ?? (process.getuid?.() === 0 ? undefined : "only root may become another user");

/** Names, rights, sizes and contents of a folder. `-shm` holds the marks of readers, and is no content. */
function contents(folder: string): Record<string, string> {
  const of = (name: string): string => {
    const now = statSync(join(folder, name));
    const bytes = now.isFile() && !name.endsWith("-shm") ? sha256(readFileSync(join(folder, name), "latin1")) : "";
    return `${now.mode.toString(8)} ${now.uid} ${now.gid} ${now.size} ${bytes}`;
  };
  return Object.fromEntries(readdirSync(folder).map((name) => [name, of(name)]));
}

it("another user of ledger.group reads without a secret and changes nothing, also after a kill and from a backup", async ({
  skip,
}) => {
  if (closedToNobody !== undefined) skip(closedToNobody);
  const group = anyGroup();
  const w = await written(0o022, group.name);
  appendFileSync(w.path("data/customers.ndjson"), '{"id":"bad-1"}\n');
  expect((await withUmask(0o022, () => w.run("run", "everything"))).exitCode).toBe(3);
  const bad = (await quarantined(w))[0].id;
  const busy = join(ledgerOf(w), "..");
  chmodSync(w.folder, 0o711);
  chmodSync(w.path("state"), 0o755);
  const places = { busy, killed: w.path("state/killed"), backup: w.path("state/backup") };
  const lay = (place: string, suffixes: readonly string[]): void => {
    mkdirSync(place, { mode: 0o750 });
    chownSync(place, -1, group.id);
    for (const suffix of suffixes) {
      const file = join(place, `ledger.db${suffix}`);
      copyFileSync(join(busy, `ledger.db${suffix}`), file);
      chownSync(file, -1, group.id);
      chmodSync(file, 0o640);
    }
  };
  lay(places.backup, ["", ".heads"]);
  // A kill in the middle of a run leaves what the run committed in the log.
  w.environment["CRM_SYNC__orderService__callsAtOnce"] = "1";
  const gate = w.stopsAt("E4");
  w.customers = w.customers.map((row) => ({ ...row, branch: "South" }));
  w.write();
  const running = w.run("run", "everything");
  await gate.reached;
  lay(places.killed, ["", ".heads", "-wal", "-shm"]);
  expect(statSync(join(places.killed, "ledger.db-wal")).size).toBeGreaterThan(0);

  const questions = [
    ["status"],
    ["runs"],
    ["run", "show", "last"],
    ["explain", "customer", "C1"],
    ["quarantine", "list"],
    ["quarantine", "show", bad],
    ["settle", "list"],
    ["report", "orders", "--period", "2026-10"],
    ["audit", "verify", "--within", "9999d"],
    ["audit", "export"],
    ["audit", "head"],
  ];
  const line = (place: string, ...words: string[]): Line => ({
    words: [`--config=${w.path("crm-sync.yaml")}`, `--sandbox=${w.sandbox.url}`, ...words],
    environment: { CRM_SYNC__ledger__path: join(place, "ledger.db"), CRM_SYNC__ledger__group: group.name },
  });
  const asked = Object.values(places).flatMap((place) => questions.map((words) => line(place, ...words)));
  const SEAL_KEY = w.environment["SEAL_KEY"] ?? "";
  const alone = (place: string, ...words: string[]): Line => ({
    ...line(place, ...words),
    environment: { SEAL_KEY, CRM_SYNC__ledger__path: join(place, "ledger.db") },
  });
  const before = Object.values(places).map(contents);
  const writing = [
    line(busy, "run", "everything"),
    // Who asked for it could not be written down.
    line(busy, "quarantine", "show", bad, "--raw"),
    alone(busy, "accept-platform"),
    alone(w.path("state/new"), "run", "everything"),
  ];
  const answers = await runAs({ uid: 54_321, gid: group.id, groups: [] }, [...asked, ...writing]);
  for (const [index, { words }] of asked.entries())
    expect.soft(answers[index]?.code, `${words.join(" ")}\n${answers[index]?.said}`).toBe(0);
  expect(Object.values(places).map(contents)).toEqual(before);
  const runsOf = (place: string): string | undefined => answers[asked.findIndex((one) => isAbout(one, place))]?.said;
  const isAbout = ({ words, environment }: Line, place: string): boolean =>
    words.at(-1) === "runs" && environment?.["CRM_SYNC__ledger__path"] === join(place, "ledger.db");
  expect(runsOf(places.killed), "what was committed last is in the log").toBe(runsOf(places.busy));
  expect(runsOf(places.backup)).not.toBe(runsOf(places.busy));
  expect(answers.slice(asked.length).map(({ code }) => code)).toEqual([78, 78, 78, 78]);
  const [stranger] = await runAs({ uid: 54_321, gid: 54_321, groups: [] }, [line(busy, "status")]);
  expect(stranger?.code).toBe(65);
  gate.goOn();
  await running;
});
