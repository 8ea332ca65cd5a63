import { describe, expect, it } from "vitest";
import { document, world, type World } from "../../support/cli.ts";
import { auditEntries, openHold } from "../../support/asking.ts";
import { crmSync } from "../../support/program.ts";
import { canary, company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

/** Two customers with two people each, who have accounts. */
async function synchronised(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  w.extra = "limits: { absenceReads: 1, absenceTime: 0s, removals: { enterprise: { floor: 50, share: 1 } } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

function move(w: World, id: string, customer: string, ...holds: string[]): void {
  Object.assign(personOf(w, id), { customer, holds });
  w.write();
}

it("hands out a password to one of two people who ask at the same time, and to nobody later", async () => {
  const w = await synchronised();
  const ask = async (by: string) => await w.run("staff", "password", "S1-1", "--by", by);
  const both = await Promise.all([ask("anna"), ask("bert")]);
  expect(both.filter(({ exitCode, stdout }) => exitCode === 0 && stdout !== "")).toHaveLength(1);
  expect(both.filter(({ exitCode, stdout }) => exitCode !== 0 && stdout === "")).toHaveLength(1);
  expect((await ask("carla")).exitCode).toBe(64);
  expect((await w.run("staff", "password", "S1-2")).exitCode, "another person's").toBe(0);
  const handed = (await auditEntries(w)).filter(({ kind }) => kind === "password-handed-out");
  expect(handed.map(({ subject }) => subject)).toEqual(["staff:crm/S1-1", "staff:crm/S1-2"]);
});

it("keeps no password of a deleted account", { tags: "long" }, async () => {
  const w = await synchronised();
  rule(w, "staff.left", "apply");
  const kept = async (): Promise<unknown[]> => {
    // Not `w.ask`: the answer holds personal data.
    const { passwords } = document(await crmSync(w.place, "--json", "audit", "subject", "--person", "S1-1"));
    return passwords.filter(({ wipedAt }: { wipedAt: string | null }) => wipedAt === null);
  };
  expect(await kept()).toHaveLength(1);
  w.staff = w.staff.filter(({ id }) => id !== "S1-1");
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M4: 1 }]);
  expect(await kept()).toEqual([]);
});

it("keeps no password of the CRM after an account was created with it", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  w.environment["CRM_SYNC__assumptions__passwordSource"] = "crm";
  personOf(w, "S1-1").password = `${canary.password}-1A`;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const reset = await w.does("staff", "reset-password", "S1-1", "--from-crm", "--reason", "forgotten");
  expect(outcome(reset), reset.stderr).toEqual([64, {}]);
});

describe("the password of who moved", { tags: "long" }, () => {
  it.each([
    ["C1", "C2", "S1-1"],
    ["C2", "C1", "S2-1"],
  ])("from %s to %s is not lost with the old account", async (_, to, id) => {
    const w = await synchronised();
    rule(w, "staff.moved", "ask");
    const first = await w.run("staff", "password", id);
    expect(first.exitCode).toBe(0);
    move(w, id, to);
    expect(outcome(await w.does("run", "everything"))).toEqual([4, { M9: 1, M1: 1 }]);
    await w.run("approve", await openHold(w), "--reason", "moved");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M4: 1 }]);
    const second = await w.run("staff", "password", id);
    expect([second.exitCode, second.stdout === first.stdout], second.stderr).toEqual([0, false]);
  });

  it("is not handed out again after the person came back, and can be reset", async () => {
    const w = await synchronised();
    expect((await w.run("staff", "password", "S1-1")).exitCode).toBe(0);
    move(w, "S1-1", "C2");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M1: 1 }]);
    move(w, "S1-1", "C1", "O1-A1");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
    const again = await w.run("staff", "password", "S1-1");
    expect([again.exitCode, again.stdout]).toEqual([64, ""]);
    const reset = await w.does("staff", "reset-password", "S1-1", "--reason", "forgotten", "--by", "anna");
    expect(outcome(reset), reset.stderr).toEqual([0, { M3: 1 }]);
    expect((await w.run("staff", "password", "S1-1")).exitCode).toBe(0);
  });
});
