import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Problem } from "../../src/base/errors.ts";
import { closeBooks, printBooks, type BooksPlace } from "../../src/books/books.ts";
import { readNotes } from "../../src/ledger/audit/checkpoint.ts";
import { statementKinds } from "../../src/report/statement/shape.ts";
import { folder } from "../support/world/start.ts";
import { anna, placeOf, readyWorld } from "./book-world.ts";

function newKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
}

/** The same place with a key that signs, or with one that whoever closes may not have. */
function withKey(place: BooksPlace, key: string | undefined): BooksPlace {
  const secrets = {
    reveal: () => {
      if (key !== undefined) return key;
      throw new Problem({ code: "config.secret", message: "AUDIT_KEY is not set", cure: "set it" });
    },
  };
  return { ...place, config: { ...place.config, audit: { signKey: "env:AUDIT_KEY" } }, secrets };
}

/** The signed heads in what was printed, by the file that each stands in. */
function headsIn(out: string): Map<string, { sequence: number; at: string }> {
  const found = readdirSync(out)
    .filter((name) => name.endsWith(".json"))
    .map((name) => {
      const { header } = JSON.parse(readFileSync(join(out, name), "utf8"));
      const [note] = readNotes(header.auditHead.checkpoint ?? "");
      return [name, note === undefined ? { sequence: 0, at: "" } : { sequence: note.sequence, at: note.at }] as const;
    });
  return new Map(found);
}

it(
  "closed periods hold the signed head of their cut-off, and are the same whichever key is there by now",
  { tags: "long" },
  async () => {
    const { world, place } = await readyWorld();
    const head = await (await world.inquiry()).auditHead();
    expect(await closeBooks(withKey(place, newKey()), "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
    for (const now of [withKey(place, newKey()), withKey(place, undefined), placeOf(world)]) {
      const out = folder();
      expect(await printBooks(now, "2026-10", { folder: out })).toMatchObject({ different: [], notCompared: [] });
      const heads = headsIn(out);
      expect(heads.size).toBe(statementKinds.length);
      for (const [name, found] of heads) expect(found, name).toEqual({ sequence: head?.sequence, at: head?.at });
    }
  },
);

it(
  "books are closed without a signature where whoever closes has no key, and printed by whoever has one",
  { tags: "long" },
  async () => {
    const { place } = await readyWorld();
    expect(await closeBooks(withKey(place, undefined), "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
    const out = folder();
    const printed = await printBooks(withKey(place, newKey()), "2026-10", { folder: out });
    expect(printed).toMatchObject({ different: [], notCompared: [] });
    expect(new Set([...headsIn(out).values()].map(({ sequence }) => sequence))).toEqual(new Set([0]));
  },
);
