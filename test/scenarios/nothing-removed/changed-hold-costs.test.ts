/** @module-tag long */
import { expect, it } from "vitest";
import { openHold } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

/** All calls, also those that read, that a run makes. */
async function callsOf(w: World): Promise<Record<string, number>> {
  const before = { ...w.sandbox.counts().calls };
  await w.does("run", "everything");
  const after = Object.entries(w.sandbox.counts().calls);
  const more = after.map(([name, count]): [string, number] => [
    name,
    (count ?? 0) - (new Map(Object.entries(before)).get(name) ?? 0),
  ]);
  return Object.fromEntries(more.filter(([, count]) => count > 0));
}

it.each(["leave it open", "reject"])(
  "a hold about what changed costs no call in each run while somebody else is in quarantine: %s",
  async (answer) => {
    const w = await world({ records: company(1, 3) });
    rule(w, "assignments.revoked", "ask");
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const person = personOf(w, "S1-1");
    const { holds } = person;
    person.holds = [];
    w.write();
    await w.does("run", "everything");
    if (answer === "reject") await w.run("reject", await openHold(w), "--reason", "asked the customer", "--by", "anna");
    // The person gets the seat back, and somebody else becomes unusable: the hold can neither be approved nor end.
    Object.assign(person, { holds });
    personOf(w, "S1-2").login = "bad login!";
    w.write();
    await w.does("run", "everything");
    for (const _ of [1, 2, 3]) expect(await callsOf(w)).toEqual({});
  },
);
