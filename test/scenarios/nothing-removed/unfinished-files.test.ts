import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { isJsonObject } from "../../../src/base/canonical-json.ts";
import { ran } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { fileSource, filesOf, writeFiles } from "../../support/world/crm-files.ts";
import { company } from "../../support/world/crm.ts";

const everything = { E2: 2, E5: 2, E9: 1, M1: 2, M9: 12 };
const night = Date.UTC(2026, 10, 1, 2) / 1_000;

const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

interface Exported {
  w: World;
  /** Writes both files of people, with so many of the last rows of `holds.csv` missing, at this time. */
  write: (missing: number, at: number) => void;
  mark: (content: string, at: number) => void;
}

/** A company whose people hold what `holds.csv` says, which the marker `holds.csv.done` ends. */
async function exported(completeWhen: { file: string; contains?: string }): Promise<Exported> {
  const records = company(2, 6);
  const w = await world({ records: { ...records, staff: [] } });
  const source = fileSource("export", ["staff"], "joined");
  const { staff } = isJsonObject(source["streams"]) ? source["streams"] : {};
  const { details } = isJsonObject(staff) ? staff : {};
  const { holds } = isJsonObject(details) ? details : {};
  Object.assign(holds ?? {}, { completeWhen });
  w.extra = `  people: ${JSON.stringify(source)}\njobs:\n  everything: { kind: sync, streams: [customers, orders, staff] }\n`;
  w.write();
  const holdsFile = w.path("export/holds.csv");
  const marker = join(w.path("export"), completeWhen.file.replaceAll("{file}", "holds.csv"));
  mkdirSync(dirname(marker), { recursive: true });
  return {
    w,
    write(missing, at) {
      writeFiles(w.path("export"), filesOf("joined", records, ["staff"]));
      const lines = readFileSync(holdsFile, "utf8").split(/(?<=\n)/u);
      writeFileSync(holdsFile, lines.slice(0, lines.length - missing).join(""));
      utimesSync(holdsFile, at, at);
    },
    mark(content, at) {
      writeFileSync(marker, content);
      utimesSync(marker, at, at);
    },
  };
}

it("takes no seat when the marker is that of the night before", async () => {
  const { w, write, mark } = await exported({ file: "{file}.done" });
  write(0, night);
  mark("", night + 60);
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: everything });
  write(1, night + 86_400);
  const cut = await w.does("run", "everything");
  expect([cut.exitCode, cut.calls]).toEqual([7, {}]);
  expect(cut.stderr).toContain(
    "its marker {file}.done, written 2026-11-01T02:01:00.000Z, is older than the file, written 2026-11-02T02:00:00.000Z",
  );
  write(0, night + 86_400);
  mark("", night + 86_400);
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: {} });
});

it("believes a marker of the same second, where its time has no parts of a second, and none of a second before", async () => {
  const { w, write, mark } = await exported({ file: "{file}.done" });
  write(0, night + 0.7);
  for (const [at, exitCode] of [
    [night - 1, 7],
    [night + 0.6, 7],
    [night, 0],
    [night + 0.7, 0],
  ] as const) {
    mark("", at);
    expect((await ran(w)).exitCode).toBe(exitCode);
  }
});

it.each(["done/{file}", "../done/{file}.ok"])("believes a marker in another folder (%s)", async (file) => {
  const { w, write, mark } = await exported({ file });
  write(0, night);
  expect((await ran(w)).exitCode).toBe(7);
  mark("", night);
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: { M1: 2, M9: 12 } });
});

it("believes the SHA-256 of a file whose marker has the time of another file system, and asks others for the time", async () => {
  for (const [contains, exitCode] of [
    ["sha256", 0],
    ["rows", 7],
  ] as const) {
    const { w, write, mark } = await exported({ file: "{file}.done", contains });
    write(0, night);
    const value = contains === "rows" ? "12" : sha256Of(readFileSync(w.path("export/holds.csv")));
    mark(value, night - 600);
    const ended = await w.does("run", "everything");
    expect(ended.exitCode, ended.stderr).toBe(exitCode);
    expect(ended.stderr.includes("the times do not matter")).toBe(exitCode === 7);
  }
});

it("takes no seat when the file does not have as many rows as its marker says, or other bytes", async () => {
  for (const contains of ["rows", "sha256"]) {
    const { w, write, mark } = await exported({ file: "{file}.done", contains });
    write(0, night);
    const bytes = readFileSync(w.path("export/holds.csv"));
    const value = contains === "rows" ? "12" : sha256Of(bytes);
    for (const content of [value, `${value} holds.csv\n`, `1 staff.csv\n${value} *export/holds.csv\n`]) {
      mark(content, night);
      expect((await ran(w)).exitCode).toBe(0);
    }
    write(1, night);
    const cut = await w.does("run", "everything");
    expect([cut.exitCode, cut.calls]).toEqual([7, {}]);
    expect(cut.stderr).toContain(
      contains === "rows"
        ? "it has 11 rows, 1 fewer than the marker says"
        : "it has another SHA-256 than the marker says",
    );
    write(0, night);
    for (const content of ["", "ok", `${value} staff.csv\n`, `${value}\n${value}\n`]) {
      mark(content, night);
      expect((await w.does("run", "everything")).stderr).toContain("its marker {file}.done does not contain the ");
    }
  }
});
