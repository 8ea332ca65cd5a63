import { createPrivateKey } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { systemRandomness } from "../../../src/base/ids.ts";
import { auditExport } from "../../../src/inquiry/audit.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import {
  AuditLog,
  auditHash,
  auditText,
  exportedEntry,
  consistencyPath,
  Frontier,
  inclusionPath,
} from "../../../src/ledger/audit/audit-log.ts";
import { readNotes, signedNote, verifierKey } from "../../../src/ledger/audit/checkpoint.ts";
import { RecordTree } from "../../../src/ledger/audit/kept-tree.ts";
import { auditPages, byPython, hasPython, verifierAlone } from "../../support/audit-record.ts";
import { folder, openLedger, sqlite } from "../../support/world/start.ts";

/** A digit that is another one. */
const another = (digit: string): string => (digit === "a" ? "b" : "a");

const entry = z.strictObject({
  format: z.int(),
  sequence: z.int(),
  at: z.string(),
  kind: z.string(),
  subject: z.string(),
  body: z.string(),
  previous: z.string(),
  salt: z.string(),
  hash: z.string(),
  text: z.string(),
});
const vectors = z
  .strictObject({
    tree: z.strictObject({
      entries: z.array(entry),
      roots: z.array(z.string()),
      inclusion: z.array(z.strictObject({ leaf: z.int(), size: z.int(), path: z.array(z.string()) })),
      consistency: z.array(z.strictObject({ before: z.int(), size: z.int(), path: z.array(z.string()) })),
    }),
    checkpoint: z.strictObject({ seed: z.string(), key: z.string(), note: z.string() }),
  })
  .parse(JSON.parse(readFileSync(join(auditPages, "vectors.json"), "utf8")));

type Entry = z.infer<typeof entry>;

/** An export that somebody wrote by the page alone. */
function exported(entries: readonly Entry[], end: { size: number; root: string }): string {
  const lines = [
    { export: "crm-sync audit record 2", entries: entries.length },
    ...entries.map(exportedEntry),
    { end: { entries: entries.length, ...end } },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

describe("the test vectors of the audit log", () => {
  const { tree } = vectors;

  it("are what the program makes of the same entries", () => {
    for (const one of tree.entries) expect([auditText(one), auditHash(one)]).toEqual([one.text, one.hash]);
    const growing = new RecordTree();
    const roots = [growing.leaves.root()];
    for (const one of tree.entries) {
      growing.take(one);
      roots.push(growing.leaves.root());
    }
    expect(roots).toEqual(tree.roots);
    const leaves = tree.entries.map(({ hash }) => hash);
    const rootOf = (from: number, to: number): string => {
      const part = new Frontier();
      for (const leaf of leaves.slice(from, to)) part.append(leaf);
      return part.root();
    };
    for (const { leaf, size, path } of tree.inclusion) expect(inclusionPath(leaf, size, rootOf)).toEqual(path);
    for (const { before, size, path } of tree.consistency) expect(consistencyPath(before, size, rootOf)).toEqual(path);
  });

  it("are good to both verifiers, and bad where anything of them is another", { tags: "long" }, () => {
    const verify = verifierAlone();
    const path = join(folder(), "tree.ndjson");
    const root = tree.roots.at(-1) ?? "";
    const whole = exported(tree.entries, { size: 5, root });
    writeFileSync(path, whole);
    expect(verify(path)).toMatchObject({ code: 0, said: expect.stringContaining(`root ${root}`) });
    if (hasPython) expect(byPython(path)).toEqual({ code: 0, said: "good\n" });
    for (const [what, other] of [
      ["a changed body", whole.replace('\\"state\\"', '\\"State\\"')],
      ["a line less", whole.replace(/(?<=\n)[^\n]*"sequence":2,[^\n]*\n/u, "")],
      ["the end cut off", whole.replace(/(?<=\n)[^\n]*"sequence":5[^]*$/u, "")],
      ["another root", whole.replace(/"root":"./u, '"root":"x')],
      ["a line more", `${whole}{"sequence":6}\n`],
    ] as const) {
      expect(other, what).not.toBe(whole);
      writeFileSync(path, other);
      expect(verify(path), what).toMatchObject({ code: 1, said: expect.stringMatching(/^BAD /u) });
      if (hasPython) expect(byPython(path).code, what).toBe(1);
    }
  });
});

it(
  "the signed checkpoint of the test vectors is what the program signs, and good to the verifier alone",
  { tags: "long" },
  () => {
    const { tree, checkpoint } = vectors;
    const { seed, key, note } = checkpoint;
    const der = Buffer.from(`302e020100300506032b657004220420${seed}`, "hex");
    const secret = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const [read] = readNotes(note);
    if (read === undefined) throw new Error("the note cannot be read");
    expect(read).toMatchObject({ size: 5, sequence: 5, hash: tree.entries[4]?.hash, root: tree.roots[5] });
    expect([signedNote(read, secret), verifierKey(read.origin, secret)]).toEqual([note, key]);

    const [verify, place] = [verifierAlone(), folder()];
    const [path, heads] = [join(place, "tree.ndjson"), join(place, "checkpoint.txt")];
    writeFileSync(path, exported(tree.entries, { size: 5, root: read.root }));
    const last = note.slice(0, -10);
    for (const [text, code] of [
      [note, 0],
      [note.replace("time 2026", "time 2027"), 1],
      [`${last}${another(last.slice(-1))}${note.slice(-9)}`, 1],
    ] as const) {
      writeFileSync(heads, text);
      expect(verify(path, "--key", key, "--heads", heads), text).toMatchObject({ code });
    }
  },
);

describe("an export of many entries", () => {
  it(
    "has a checkpoint after every 1,000th entry but the last, and is bad to both verifiers for a byte beside",
    { tags: "long" },
    async () => {
      const { ledger, path } = await openLedger();
      const place = join(folder(), "audit.ndjson");
      const verify = verifierAlone();
      const judged = (text: string): unknown[] => {
        writeFileSync(place, text);
        return hasPython ? [verify(place).code, byPython(place).code] : [verify(place).code, verify(place).code];
      };
      let text = "";
      for (const [entries, checkpoints] of [
        [1_000, 0],
        [1_001, 1],
        [2_000, 1],
        [2_003, 2],
      ] as const) {
        const more = entries - (ledger.audit.head()?.sequence ?? 0);
        await Promise.all(
          Array.from({ length: more }, () => ledger.audit.append({ kind: "k", subject: "s", body: { entries } })),
        );
        const reader = new ReadOnlyLedger(path, openReadOnly(path));
        const lines = await Array.fromAsync(auditExport(reader, "crm-sync audit record 2", 1_000));
        reader.close();
        text = lines.join("");
        expect(lines.filter((line) => line.startsWith('{"checkpoint"'))).toHaveLength(checkpoints);
        expect(judged(text), `${entries}`).toEqual([0, 0]);
      }
      const checkpoint = /^\{"checkpoint".*\n/mu.exec(text)?.[0] ?? "";
      for (const [what, changed] of [
        ["a checkpoint twice", text.replace(checkpoint, checkpoint.repeat(2))],
        ["no checkpoint", text.replace(checkpoint, "")],
        ["a checkpoint elsewhere", text.replace(/\{"end":(.*\n)/u, (end, rest) => `{"checkpoint":${rest}${end}`)],
        ["something before it", `\uFEFF${text}`],
        ["no end of the last line", text.slice(0, -1)],
        ["an empty line", `${text}\n`],
        ["lines as Windows ends them", text.replaceAll("\n", "\r\n")],
        ["a zero behind it", `${text}\0`],
        ["a blank", text.replace('{"end":', '{ "end":')],
        ["a number written otherwise", text.replace('"size":2003', '"size":2003.0')],
      ] as const) {
        expect(changed, what).not.toBe(text);
        expect.soft(judged(changed), what).toEqual([1, 1]);
      }
    },
  );
});

describe("an export beside a run", () => {
  it("begins with entry and tree of one state, whatever is written between the readings of them", async () => {
    const { ledger, path } = await openLedger();
    for (let number = 1; number <= 3; number += 1)
      await ledger.audit.append({ kind: "k", subject: "s", body: { number } });
    const other = sqlite(path);
    const log = new AuditLog(other, systemRandomness);
    const reader = new ReadOnlyLedger(path, openReadOnly(path));
    const reading = reader.reading.bind(reader);
    reader.reading = (work) => {
      log.append({ at: "2026-10-01T08:00:00.000Z", kind: "k", subject: "s", body: {} });
      log.grow();
      return reading(work);
    };
    const written: string[] = [];
    for await (const line of auditExport(reader, "form", 1_000)) written.push(line);
    reader.close();
    expect(JSON.parse(written[0] ?? "")).toEqual({ export: "form", entries: 3 });
    expect(JSON.parse(written.at(-1) ?? "").end).toMatchObject({ entries: 3, size: 3 });
  });
});
