import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { MemberNames, ShapeOfRows } from "../../src/source/shape.ts";

const named = (rows: readonly JsonObject[], reads: readonly (readonly string[])[] = []): MemberNames => {
  const names = new MemberNames(reads);
  for (const row of rows) names.see(row);
  return names;
};

const seats: readonly JsonObject[] = [
  { id: 1, seats: { annlee: 1, bobray: { from: 1 } } },
  { id: 2, seats: { carlfox: 2 } },
  { id: 3, seats: { annlee: 1, dorakim: 4 } },
];

describe("names of members", () => {
  it("are fields where every object has them, and where rows have them", () => {
    const rows = [1, 2, 3].map((id): JsonObject => ({
      id,
      remark: id === 1 ? "x" : null,
      address: { city: "B", zip: id },
    }));
    expect(named(rows).shown(rows[0] ?? {})).toEqual(rows[0]);
    expect(named([{ [`a@b.c`]: 1 }]).shown({ "a@b.c": 1 })).toEqual({ "a@b.c": 1 });
  });

  it("are data where they differ from record to record, through lists as well", () => {
    const names = named(seats);
    expect(seats.map((row) => names.shown(row))).toEqual([
      { id: 1, seats: { "*": [1, { "*": [1] }] } },
      { id: 2, seats: { "*": [2] } },
      { id: 3, seats: { "*": [1, 4] } },
    ]);
    const listed = [{ rows: seats.map((row) => ({ by: row["seats"] ?? null })) }];
    expect(JSON.stringify(named(listed).shown(listed[0] ?? {}))).not.toMatch(/ann|bob|carl|dora/u);
  });

  it("are data in few objects, and where they look like an address, a person or a number", () => {
    const two = seats.slice(0, 1).concat(seats.slice(0, 1));
    expect(named(two).shown(two[0] ?? {})["seats"]).toEqual({ "*": [1, { "*": [1] }] });
    for (const name of ["ann@example.com", "Ann Lee", "49301234567", "m49301234567", "x".repeat(80)]) {
      const rows = [1, 2, 3].map((id): JsonObject => ({ id, by: { [name]: id } }));
      expect(named(rows).shown(rows[0] ?? {}), name).toEqual({ id: 1, by: { "*": [1] } });
    }
  });

  it("that only some objects have are data, and do not hide the fields beside them", () => {
    const rows = [1, 2, 3].map((id): JsonObject => ({
      address: { city: "B", zip: id, ...(id === 1 && { annlee: 1 }) },
    }));
    expect(named(rows).shown(rows[0] ?? {})).toEqual({ address: { city: "B", zip: 1, "*": [1] } });
  });

  it("one of whom is in every object are data, where most of the others differ", () => {
    const rows = ["bob", "carl", "dora"].map((name): JsonObject => ({ by: { annlee: 1, [name]: 2 } }));
    expect(named(rows).shown(rows[0] ?? {})).toEqual({ by: { "*": [1, 2] } });
  });

  it("are fields where the mapping reads them by name", () => {
    const names = named(seats, [["seats", "bobray", "from"]]);
    expect(names.shown(seats[0] ?? {})).toEqual({ id: 1, seats: { bobray: { from: 1 }, "*": [1] } });
  });

  it("are data behind names that are", () => {
    const rows = ["ann", "bob", "carl"].map((name): JsonObject => ({ by: { [name]: { seats: 1 } } }));
    expect(named(rows).shown(rows[0] ?? {})).toEqual({ by: { "*": [{ "*": [1] }] } });
  });

  it("of more objects than can be told apart are data", () => {
    const rows = Array.from({ length: 3 }, () => ({
      by: Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`n${at}`, 1])),
    }));
    expect(JSON.stringify(named(rows).shown(rows[0] ?? {}))).not.toMatch(/n1|n500/u);
  });

  it("that are data are kept by no reading of an object that is read whole", () => {
    const kept = new ShapeOfRows([], new Set(["id", "seats"]));
    for (const row of seats) kept.see(row);
    expect(Object.keys(kept.shape().places)).toEqual(["id", "seats"]);
  });
});
