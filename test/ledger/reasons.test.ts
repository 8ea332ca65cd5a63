import { describe, expect, it } from "vitest";
import { ask } from "../support/world/asked.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { rowsOf, sqlite } from "../support/world/start.ts";
import { trusted } from "../support/trusted.ts";

const acme = { name: "Zelda Works", adminMobile: "+4917655501234", adminEmail: "zelda@example.org" };

async function world(): Promise<LedgerWorld> {
  const made = await LedgerWorld.open();
  await made.read("customers", [
    { customers: customerRecord("C1", acme) },
    { customers: customerRecord("C2", { name: "Known" }) },
  ]);
  await made.read("staff", [{ staff: staffRecord("S1", "C1", { name: "Quentin Quill", userName: "anna.lee" }) }]);
  await made.read("orders", [{ orders: orderRecord("O1", "C1") }]);
  return made;
}

it(
  "a reason that repeats personal data of the customer it is about is refused, and nothing is decided",
  { tags: "long" },
  async () => {
    const made = await world();
    const { ledger } = made;
    const { hold } = await ask(ledger, "C1");
    for (const reason of [
      "asked zelda works",
      "wrote to ZELDA@example.org",
      "+4917655501234 said so",
      "Quentin Quill is gone",
    ]) {
      const blocker = { id: "money:crm/O1", facts: "f" };
      await expect(ledger.books.signOff("2026-09", [blocker], { by: "anna", reason }, trusted)).rejects.toMatchObject({
        code: "reason.names",
        exitCode: 64,
      });
      await expect(
        ledger.books.signOff("2026-09", [{ id: `hold:${hold}`, facts: "f" }], { by: "anna", reason }, trusted),
      ).rejects.toMatchObject({ code: "reason.names" });
      await expect(ledger.decisions.decide(hold, "approve", reason, "anna")).rejects.toMatchObject({
        code: "reason.names",
      });
      const byHand = { kind: "done-by-hand", subject: "order:crm/O1", body: { bodyHash: "b", by: "anna", reason } };
      await expect(ledger.state.record(key("C1"), [], byHand)).rejects.toMatchObject({ code: "reason.names" });
      // Of the whole ledger.
      await expect(
        ledger.books.signOff("2026-09", [{ id: "sum:entitlements", facts: "f" }], { by: "anna", reason }, trusted),
      ).rejects.toMatchObject({ code: "reason.names", message: expect.not.stringContaining("crm/C1") });
    }
    expect(
      [...ledger.audit.rows()].filter(({ kind }) => ["signed-off", "hold-approved", "done-by-hand"].includes(kind)),
    ).toEqual([]);
    expect(await (await made.inquiry()).holds({ id: hold })).toMatchObject([{ state: "open" }]);
  },
);

it("a reason with words of another customer, or with a name that is a word of every day, is taken", async () => {
  const { ledger } = await world();
  const known = { by: "anna", reason: "known, C2 was asked" };
  await ledger.books.signOff("2026-09", [{ id: "sum:entitlements", facts: "f" }], known, trusted);
  await ledger.books.signOff("2026-09", [{ id: "money:crm/O1", facts: "f" }], known, trusted);
  expect([...ledger.audit.rows()].filter(({ kind }) => kind === "signed-off")).toHaveLength(2);
});

it("who decides may be a person whom the CRM knows where it is about nobody, and not where it is about that person", async () => {
  const { ledger } = await world();
  const decided = { by: "anna.lee", reason: "known" };
  await ledger.books.signOff("2026-09", [{ id: "sum:entitlements", facts: "f" }], decided, trusted);
  await ledger.books.signOff("2026-09", [{ id: "source:hr", facts: "f" }], decided, trusted);
  const own = ledger.books.signOff("2026-09", [{ id: "money:crm/O1", facts: "f" }], decided, trusted);
  await expect(own).rejects.toMatchObject({ code: "reason.names" });
  const signed = [...ledger.audit.rows()].filter(({ kind }) => kind === "signed-off");
  expect(signed.map(({ body }) => JSON.parse(body))).toMatchObject([
    { blocker: "sum:entitlements" },
    { blocker: "source:hr" },
  ]);
});

/** Rows in quarantine of which no good record ever came: one of C1, and one of nobody; their ids. */
async function neverUsable(made: LedgerWorld): Promise<{ ofCustomer: string; ofNobody: string }> {
  const heike = {
    id: "S-1704",
    customer: "CUSTOMER-9",
    person: { name: "Heike Böhm", phones: ["0171 5550199"] },
    street: "Lindenallee 101",
    hired: "2026-11-01",
    fee: "5.94",
    currency: "EUR",
  };
  await made.reject("staff", key("S-1704"), { customer: key("CUSTOMER-9"), form: heike });
  await made.reject("customers", undefined, { form: "17;Jörg Ahrens;Am Deich 5,26123 Oldenburg;5.94" });
  const all = rowsOf<{ id: string; stream: string }>(made.path, "select id, stream from quarantine");
  const idOf = (stream: string): string => all.find((row) => row.stream === stream)?.id ?? "";
  return { ofCustomer: idOf("staff"), ofNobody: idOf("customers") };
}

describe("a reason about a row in quarantine that was never usable", () => {
  it("is refused where it repeats values of that row, or of any such row where it is about nobody", async () => {
    const made = await world();
    const { ofCustomer, ofNobody } = await neverUsable(made);
    const signed = async (blocker: object & { id: string }, reason: string, by = "anna"): Promise<unknown> =>
      await made.ledger.books.signOff("2026-09", [{ facts: "f", ...blocker }], { by, reason }, trusted);
    const row = { id: `quarantined:${ofCustomer}`, customer: "crm/CUSTOMER-9" };
    for (const [blocker, reason] of [
      [row, "HEIKE BÖHM will call back"],
      [row, "asked in Lindenallee 101"],
      [row, "0171 5550199 said so"],
      [{ id: row.id }, "heike böhm will call back"],
      [{ id: `quarantined:${ofNobody}` }, "Jörg Ahrens was asked"],
      [{ id: `quarantined:${ofNobody}` }, "wrote to Am Deich 5"],
      [{ id: "sum:entitlements" }, "Heike Böhm will call back"],
      [{ id: "sum:entitlements" }, "0171 5550199 said so"],
      [{ id: "sum:entitlements" }, "asked in Lindenallee 101"],
    ] as const)
      await expect.soft(signed(blocker, reason), reason).rejects.toMatchObject({ code: "reason.names", exitCode: 64 });
    await expect(signed(row, "will call back", "Heike Böhm")).rejects.toMatchObject({
      code: "reason.names",
      message: expect.stringContaining(`of the row ${ofCustomer} in quarantine`),
    });
    expect([...made.ledger.audit.rows()].filter(({ kind }) => kind === "signed-off")).toEqual([]);
  });

  it("is taken with ids, days and money of the row", async () => {
    const made = await world();
    const { ofCustomer } = await neverUsable(made);
    const known = { by: "anna", reason: "S-1704 of CUSTOMER-9: 5.94 EUR, left out until 2026-11-01" };
    const row = { id: `quarantined:${ofCustomer}`, customer: "crm/CUSTOMER-9", facts: "f" };
    await made.ledger.books.signOff("2026-09", [row], known, trusted);
    await made.ledger.books.signOff("2026-09", [{ id: "sum:entitlements", facts: "f" }], known, trusted);
    expect([...made.ledger.audit.rows()].filter(({ kind }) => kind === "signed-off")).toHaveLength(2);
  });
});

it("a name is found in a ledger with more values than a reason is compared with", async () => {
  const { ledger, path } = await world();
  sqlite(path).exec(`insert into private_value (ref, version, body, created_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
    select 'customers/a/' || i, 1, '{}', '2026-01-01' from n`);
  const signed = (reason: string) =>
    ledger.books.signOff("2026-09", [{ id: "sum:entitlements", facts: "f" }], { by: "anna", reason }, trusted);
  for (const reason of ["as (quentin  QUILL) said", "ask anna.lee."])
    await expect(signed(reason)).rejects.toMatchObject({ code: "reason.names" });
  await signed("as said");
});
