import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { readFileSync, writeFileSync } from "node:fs";

it("names what is wrong with a record, and maps it anew once the mapping is corrected", async () => {
  const w = await world({ records: company(1, 1) });
  w.staff = w.staff.map((person) => ({ ...person, name: "x".repeat(31), note: "Anna" }));
  w.write();
  expect((await ran(w)).exitCode).toBe(3);
  const [row, ...others] = await quarantined(w);
  expect([row, others]).toMatchObject([{ field: "name", place: "staff.ndjson:1" }, []]);
  expect(await w.ask("quarantine", "show", row.id)).toMatchObject({ id: row.id, field: "name" });
  const configuration = readFileSync(w.path("crm-sync.yaml"), "utf8");
  writeFileSync(
    w.path("crm-sync.yaml"),
    configuration.replace("name: name\n          mobile", "name: note\n          mobile"),
  );
  expect(await w.ask("quarantine", "retry", row.id, "--by", "anna")).toEqual({
    results: [{ kind: "taken-up", id: row.id }],
  });
  expect(await quarantined(w)).toEqual([]);
  expect((await ran(w)).calls).toEqual({ M1: 1, M9: 1 });
});
