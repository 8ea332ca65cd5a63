import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codesPage, listedCodes } from "../../scripts/docs/codes-page.ts";
import { saidCodes } from "../../scripts/docs/said-codes.ts";
import { unexplainedCodes } from "../support/known-codes.ts";

it("the page of the codes says of each what it means, and has those of every kind", () => {
  const listed = listedCodes();
  const without = [...listed.values()].flat().filter(({ meaning }) => meaning === undefined);
  expect(without.map(({ code }) => code)).toEqual([]);
  const page = readFileSync(join(import.meta.dirname, "../../docs/reference/codes.md"), "utf8");
  expect(page === codesPage(), "docs/reference/codes.md is out of date: run `npm run docs`").toBe(true);
  const codesOf = (group: Parameters<typeof listed.get>[0]): string[] =>
    (listed.get(group) ?? []).map(({ code }) => code);
  expect(codesOf("commands")).toEqual(
    expect.arrayContaining(["run.active", "usage", "ledger.behind", "erase.current"]),
  );
  expect(codesOf("configuration")).toContain("config.unknown-key");
  expect(codesOf("sources")).toContain("source.missing-file");
  expect(codesOf("services")).toContain("service.transport");
  expect(codesOf("waiting")).toEqual(expect.arrayContaining(["hold.open", "order.there-already", "staff.still-holds"]));
  expect(codesOf("quarantine")).toEqual(expect.arrayContaining(["not-a-date", "duplicate-id", "claimed-twice"]));
  expect(codesOf("pages")).toContain("signed-out");
});

it("finds a code in an object, in a call of a function of the same or of another file, and one of two", () => {
  const a = [
    'import { refused } from "./b.ts";',
    "const gone = `the ${thing} is gone`;",
    'throw new Problem({ code: isOld ? "old.gone" : "new.gone", message: gone, cure: "do it " + "again" });',
    'refused("other.file", place, `somebody took ${thing}`, "give it back");',
    'this.#bad("the.method", "it is bad");',
    "class A { #bad(code: string, message: string) {} }",
  ];
  const b = "export function refused(code: string, place: string, message: string, cure: string) {}";
  const said = saidCodes([
    { path: "src/a.ts", source: a.join("\n") },
    { path: "src/b.ts", source: b },
  ]);
  expect(said.map(({ code, message, hint }) => [code, message, hint])).toEqual([
    ["old.gone", "the … is gone", "do it again"],
    ["new.gone", "the … is gone", "do it again"],
    ["other.file", "somebody took …", "give it back"],
    ["the.method", "it is bad", undefined],
  ]);
});

it("a result with a code that no page explains is found", () => {
  const known = { code: "run.active", message: "" };
  const result = {
    error: known,
    waiting: [
      { code: "rejected.40006", reason: "" },
      { code: "no.such", reason: "" },
    ],
  };
  expect(unexplainedCodes({ ...result, enterprise: { code: "ABC" } })).toEqual(["no.such"]);
});
