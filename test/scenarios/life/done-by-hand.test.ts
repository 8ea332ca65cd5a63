import { expect, it } from "vitest";
import { document, promptRetries, world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { assetRow, canary, company } from "../../support/world/crm.ts";

const because = ["--reason", "the service desk did it", "--by", "anna"];

async function synchronised(settings: string): Promise<World> {
  const w = await world({ records: company(2, 2) });
  w.extra = `${settings}\n`;
  w.write();
  const { exitCode, stdout } = await w.run("run", "everything");
  expect(exitCode, stdout).toBe(0);
  return w;
}

const memberOf = (w: World, staff: string): string =>
  w.rows<{ id: string }>("select member_global_id as id from staff_link where staff_id = ?", staff)[0]?.id ?? "";
const notes = (w: World): { kind: string; subject: string; counted: number | null }[] =>
  w.rows(
    `select kind, subject, json_extract(body, '$.counted') as counted from audit
      where kind in ('done-by-hand', 'by-hand-read-back') order by sequence`,
  );

it(
  "a person's new name that somebody set on the platform counts once M5 shows it, and not before",
  { tags: "long" },
  async () => {
    const w = await synchronised("policies: { staff: { edited: report } }");
    const [person] = w.staff;
    if (person !== undefined) person.name = `${canary.person} married`;
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(document(await w.run("explain", "staff", "S1-1", "--json")).record.deferred.code).toBe("policy.reported");

    const early = await w.does("resolve", "staff:S1-1", "--done-by-hand", ...because);
    expect([early.exitCode, early.calls]).toEqual([3, {}]);
    expect(early.stdout).toMatch(/nothing counts as agreed.*M5 shows another name than the CRM has/su);
    expect(notes(w)).toEqual([
      { kind: "done-by-hand", subject: "staff:crm/S1-1", counted: null },
      { kind: "by-hand-read-back", subject: "staff:crm/S1-1", counted: 0 },
    ]);
    expect(w.rows("select 1 from by_hand")).toEqual([]);
    await w.run("run", "everything");
    expect(document(await w.run("explain", "staff", "S1-1", "--json")).record.deferred.code).toBe("policy.reported");

    w.sandbox.hand({ action: "rename-person", memberGlobalId: memberOf(w, "S1-1"), name: `${canary.person} married` });
    const resolved = await w.does("resolve", "staff:S1-1", "--done-by-hand", ...because);
    expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
    expect(resolved.stdout).toMatch(/staff:crm\/S1-1: \d of \d things are shown as the CRM says; it counts as agreed/u);
    const then = await w.does("run", "everything");
    expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
    const facts = document(await w.run("explain", "staff", "S1-1", "--json"));
    expect([facts.record.deferred, facts.byHand]).toMatchObject([null, { by: "anna", unseen: [] }]);
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("noted by anna");

    if (person !== undefined) person.name = `${canary.person} again`;
    w.write();
    await w.run("run", "everything");
    expect(document(await w.run("explain", "staff", "S1-1", "--json")).byHand, "a note is of one form").toBeNull();
  },
);

it(
  "an asset that somebody took from a person counts as given back once M6 shows it so; the neighbour keeps its own",
  { tags: "long" },
  async () => {
    const { orders, ...records } = company(2, 2);
    const keys = orders.map((order) => ({
      ...order,
      assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const })),
    }));
    const w = await world({ records: { ...records, orders: keys } });
    w.extra = "limits: { revokes: { enterprise: { floor: 0, share: 0 } } }\n";
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const leaver = w.staff.find((row) => row.id === "S2-1");
    if (leaver !== undefined) leaver.holds = [];
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    const [{ number }] = w.rows<{ number: string }>(
      "select asset_number as number from assignment where staff_id = 'S2-1' and to_at is null",
    ) as [{ number: string }];
    const early = await w.run("resolve", "staff:S2-1", "--done-by-hand", ...because);
    expect([early.exitCode, early.stdout]).toEqual([3, expect.stringContaining(`still holds the asset ${number}`)]);
    w.sandbox.hand({ action: "move-holder", assetNum: number, memberGlobalId: null });
    expect((await w.run("resolve", "staff:S2-1", "--done-by-hand", ...because)).exitCode).toBe(0);
    expect(w.rows("select staff_id from assignment where to_at is null order by staff_id")).toEqual([
      { staff_id: "S1-1" },
      { staff_id: "S1-2" },
      { staff_id: "S2-2" },
    ]);
    const then = await w.does("run", "everything");
    expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
  },
);

it(
  "what nothing reads back of a customer counts by a person's word, and is marked so until the record changes",
  { tags: "long" },
  async () => {
    const w = await synchronised("policies: { enterprises: { update: report } }");
    const [customer] = w.customers;
    if (customer !== undefined) customer.name = `${canary.name} renamed`;
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    const resolved = await w.does("resolve", "customer:C1", "--done-by-hand", ...because);
    expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
    expect(resolved.stdout.replaceAll(/\s+/gu, " ")).toContain("by your word alone: name, branch, address");
    w.extra = "";
    w.write();
    expect((await w.does("run", "everything")).calls, "no E4, also where the policy is to send it").toEqual({});
    const listed = async () =>
      (await statementRows(w, "exceptions", "exceptions")).filter(({ kind }) => kind === "by-hand");
    expect(await listed()).toMatchObject([
      { open: true, customer: "crm/C1", reason: "done by hand by anna, and not read back" },
    ]);
    const status = async (): Promise<string> => (await w.run("status")).stdout;
    expect(await status()).toMatch(/^by hand +done by somebody's word and not read back: 1 in customers/mu);
    if (customer !== undefined) customer.name = `${canary.name} once more`;
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({ E4: 1 });
    expect((await listed()).filter(({ open }) => open)).toEqual([]);
    expect(await status()).not.toMatch(/^by hand/mu);
  },
);

it(
  "nothing is noted of what nobody knows, of what stands as it should, of what is open, and without a reason",
  { tags: "long" },
  async () => {
    const w = await synchronised("");
    const tried = async (...words: string[]): Promise<string> => {
      const { exitCode, stderr } = await w.run("resolve", ...words);
      expect(exitCode, words.join(" ")).toBe(64);
      return stderr;
    };
    expect(await tried("staff:S7", "--done-by-hand", ...because)).toContain("no source has given staff:crm/S7");
    expect(await tried("people:S1-1", "--done-by-hand", ...because)).toContain("names no record");
    expect(await tried("staff:S1-1", ...because)).toContain("--done-by-hand");
    expect(await tried("staff:S1-1", "--done-by-hand")).toContain("needs a reason");
    for (const subject of ["staff:crm/S1-1", "customer:crm/C1", "order:crm/O1"]) {
      const [stream, id] = subject.split(":crm/");
      expect(await tried(`${stream}:${id}`, "--done-by-hand", ...because)).toContain(
        `${subject} stands as the CRM has it`,
      );
    }
    expect(w.rows("select 1 from by_hand")).toEqual([]);
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
    expect((await w.run("run", "everything")).exitCode).toBe(5);
    expect(await tried("staff:S1-1", "--done-by-hand", ...because)).toContain("the outcome of E5 on order:crm/O9");
    w.sandbox.faults.clear();
    expect(notes(w)).toEqual([]);
  },
);

it("an asset that M6 leaves out does not count as given back, whatever a person says", { tags: "long" }, async () => {
  const { orders, ...records } = company(2, 2);
  const keys = orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const })),
  }));
  const w = await world({ records: { ...records, orders: keys } });
  w.extra = "limits: { revokes: { enterprise: { floor: 0, share: 0 } } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const leaver = w.staff.find((row) => row.id === "S1-2");
  if (leaver !== undefined) leaver.holds = [];
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  const still = (): number => w.rows("select 1 from assignment where staff_id = 'S1-2' and to_at is null").length;
  w.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 2 });
  const held = await w.does("resolve", "staff:S1-2", "--done-by-hand", ...because);
  expect([held.exitCode, held.calls, still()], held.stdout).toEqual([3, {}, 1]);
  expect(held.stdout).toContain("M5 shows that the person still holds the asset");
  w.sandbox.faults.clear();
  const [given] = w.rows<{ number: string }>(
    "select asset_number as number from assignment where staff_id = 'S1-2' and to_at is null",
  );
  w.sandbox.hand({ action: "move-holder", assetNum: given?.number ?? "", memberGlobalId: null });
  w.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 2 });
  const unseen = await w.does("resolve", "staff:S1-2", "--done-by-hand", ...because);
  expect(unseen.stdout).toContain(`that the asset ${given?.number} is given back`);
  expect(still(), "nothing shows it").toBe(1);
});

it("an enterprise that is another customer's is not linked by what a person did, and both are told of", async () => {
  const w = await synchronised("");
  const [link] = w.rows<{ id: string }>("select enterprise_global_id as id from link where customer_id = 'C1'");
  w.sandbox.hand({ action: "copy-customer", enterpriseGlobalId: link?.id ?? "", channelCustomerId: "C3" });
  w.customers.push({ id: "C3" });
  w.write();
  await w.run("run", "everything");
  const resolved = await w.does("resolve", "customer:C3", "--done-by-hand", ...because);
  expect([resolved.exitCode, resolved.calls, resolved.stdout]).toEqual([64, {}, ""]);
  expect(resolved.stderr).toContain(`the enterprise ${link?.id} is linked to crm/C1, so it does not count for crm/C3`);
  expect(w.rows("select customer_id from link where to_at is null order by 1")).toEqual([
    { customer_id: "C1" },
    { customer_id: "C2" },
  ]);
  expect(notes(w).at(-1)).toEqual({ kind: "by-hand-read-back", subject: "customer:crm/C3", counted: 0 });
});

it(
  "while a service is down a person's note and a new password end with 7, and nothing counts",
  { tags: "long" },
  async () => {
    const w = await synchronised("policies: { staff: { edited: report } }");
    Object.assign(w.environment, promptRetries);
    const [person] = w.staff;
    if (person !== undefined) person.name = `${canary.person} married`;
    w.write();
    await w.run("run", "everything");
    await w.sandbox.refuseConnections();
    const asked = [
      await w.run("resolve", "staff:S1-1", "--done-by-hand", ...because),
      await w.run("staff", "reset-password", "S1-1", ...because),
    ];
    await w.sandbox.acceptConnections();
    for (const { exitCode, stdout, stderr } of asked)
      expect([exitCode, /did not reach the service/u.test(stdout + stderr)], stdout + stderr).toEqual([7, true]);
    expect(notes(w)).toEqual([{ kind: "done-by-hand", subject: "staff:crm/S1-1", counted: null }]);
    expect(w.rows("select 1 from by_hand")).toEqual([]);
    expect((await w.does("run", "everything")).calls, "nothing is sent later, either").toEqual({});
  },
);
