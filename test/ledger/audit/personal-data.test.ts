import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { placesOfPersonal, searchedPlaces, type PlaceOfPersonal } from "../../../src/ledger/private/places.ts";
import { auditPages } from "../../support/audit-record.ts";

const namesOf = (places: readonly PlaceOfPersonal[]): string[] =>
  places.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`)).toSorted();

it("the page of personal data names the places of the one list, and those that an erasure looks through", () => {
  const page = readFileSync(join(auditPages, "../personal-data.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const named = (wanted: readonly string[]): string[] => {
    const all = wanted.flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`(\w+\.\w+)`/gu)].map(([, name]) => name),
    );
    return [...new Set(all.map(String))].toSorted();
  };
  expect(named(rows)).toEqual(namesOf(placesOfPersonal));
  expect(named(rows.filter((row) => row.includes("looked through")))).toEqual(namesOf(searchedPlaces));
});
