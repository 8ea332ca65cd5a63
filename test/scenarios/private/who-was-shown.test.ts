import { expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { document, type Parsed, type World } from "../../support/cli.ts";
import { eraseGone, gone, livedWithGone, nothingWaits, runs } from "../../support/gone-customer.ts";
import { crmSync, type Ended } from "../../support/program.ts";

/** A command that prints something private. */
async function shows(w: World, ...words: string[]): Promise<Ended> {
  w.later(1);
  const ended = await crmSync({ ...w.place, clock: w.clock }, ...words);
  expect(ended.exitCode, ended.stderr).toBe(0);
  return ended;
}

async function subjectOf(w: World, ...whose: string[]): Promise<Parsed> {
  return document(await shows(w, "--json", "audit", "subject", "--by", "anna.lee", ...whose));
}

/** The subjects of entries that say that something was shown, as an export names them. */
async function shownOf(w: World, ...whose: string[]): Promise<string[]> {
  const { audit } = await subjectOf(w, ...whose);
  const entries = await auditEntries(w);
  return audit
    .filter(({ kind }: Parsed) => kind === "private-shown")
    .map(({ sequence }: Parsed) => entries.find((one) => one.sequence === sequence).subject);
}

it("whoever was shown a raw form or an answer is named to the person, and by an erasure", async () => {
  const w = await livedWithGone();
  w.sandbox.faults.add({ operation: "E4", fault: "oddCode", code: "Zqcanary Gone Works is there", times: 1 });
  w.customers[0] = { ...w.customers[0], id: "C1", address: "Zqcanary Gone Road 2" };
  w.write();
  await shows(w, "run", "everything").catch(() => undefined);
  w.write();
  await runs(w, 0);
  const { quarantine } = await subjectOf(w, "--person", "S1-2");
  const { operations } = await subjectOf(w, "--customer", "C1");
  const answered = operations.find(({ endpoint }: Parsed) => endpoint === "E4").id;
  const row = quarantine[0].id;

  const raw = await shows(w, "quarantine", "show", row, "--raw", "--by", "ben");
  expect(raw.stdout).toContain("Zqcanary Gone");
  const entry = (await auditEntries(w)).at(-1);
  expect([entry.kind, entry.subject]).toEqual(["private-shown", `quarantine:${row}`]);
  expect(JSON.parse(entry.body)).toMatchObject({ by: "ben", stream: "staff", record: "crm/S1-2" });
  await shows(w, "audit", "answer", answered, "--by", "cleo");

  expect(await shownOf(w, "--person", "S1-2")).toContain(`quarantine:${row}`);
  expect(await shownOf(w, "--person", "S1-1")).not.toContain(`quarantine:${row}`);
  expect(await shownOf(w, "--customer", "C1")).toContain(`operation:${answered}`);
  expect(await shownOf(w, "--customer", "C2")).not.toContain(`operation:${answered}`);

  await gone(w);
  await nothingWaits(w);
  const erased = await w.run(...eraseGone);
  for (const by of ["ben", "cleo"]) expect(erased.stdout).toContain(`outputs that ${by} saw`);
});
