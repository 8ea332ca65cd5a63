import { expect, it } from "vitest";
import type { AssumptionMet } from "../../src/engine/model/assumptions-met.ts";
import { openLedger, rowsOf } from "../support/world/start.ts";

const against = (about?: string): AssumptionMet => ({ row: "A12", evidence: `13004 for ${about ?? "all"}`, about });

const audited = (path: string): string[] =>
  rowsOf<{ kind: string }>(path, "select kind from audit where kind like 'assumption%' order by sequence").map(
    (row) => row.kind,
  );

it("a contradiction is about the parts that were met, until one is about the whole row", async () => {
  const { ledger, path } = await openLedger();
  const about = (): readonly string[] | undefined => ledger.assumptions.contradictions.get("A12")?.about;
  expect(about()).toBeUndefined();
  await ledger.assumptions.met([against("softkey")]);
  await ledger.assumptions.met([against("cloud_account")], "op_1");
  await ledger.assumptions.met([against("softkey")]);
  expect(about()).toEqual(["cloud_account", "softkey"]);
  expect(audited(path)).toEqual(["assumption-contradicted", "assumption-contradicted"]);
  await ledger.assumptions.met([against()]);
  await ledger.assumptions.met([against("softkey")]);
  expect(about()).toEqual([]);
});

it("what was accepted stops nothing, and stands again where it is met again", async () => {
  const { ledger, path } = await openLedger();
  const words = { by: "anna", reason: "asked them" };
  expect(await ledger.assumptions.accept("A12", words)).toBe(false);
  await ledger.assumptions.met([against()]);
  expect(await ledger.assumptions.accept("A12", words)).toBe(true);
  expect(ledger.assumptions.contradictions.size).toBe(0);
  expect(await ledger.assumptions.accept("A12", words)).toBe(false);
  await ledger.assumptions.met([against("softkey")]);
  expect(ledger.assumptions.contradictions.get("A12")).toMatchObject({ about: ["softkey"] });
  expect(audited(path)).toEqual(["assumption-contradicted", "assumption-accepted", "assumption-contradicted"]);
});

it("lists that do not add up are counted one after the other, over restarts, until one does", async () => {
  const { ledger, path } = await openLedger();
  expect(await ledger.assumptions.incompleteList("61")).toBe(1);
  expect(await ledger.assumptions.incompleteList("62")).toBe(1);
  expect(await ledger.assumptions.incompleteList("61")).toBe(2);
  ledger.close();
  const { ledger: later } = await openLedger({ path });
  await later.assumptions.wholeList("62");
  expect(await later.assumptions.incompleteList("61")).toBe(3);
  expect(await later.assumptions.incompleteList("62")).toBe(1);
});

it("a lasting fact about a part does not contradict again what was accepted as a whole", async () => {
  const { ledger, path } = await openLedger();
  await ledger.assumptions.met([against()]);
  await ledger.assumptions.accept("A12", { by: "anna", reason: "asked them" });
  await ledger.assumptions.stands([against("softkey"), against()]);
  expect(ledger.assumptions.contradictions.size).toBe(0);
  expect(audited(path)).toEqual(["assumption-contradicted", "assumption-accepted"]);
});
