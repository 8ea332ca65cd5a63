import { expect, it } from "vitest";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";

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

it("a reason that repeats personal data of the customer it is about is refused, and nothing is decided", async () => {
  const made = await world();
  const { ledger } = made;
  const of = { customer: key("C1"), count: 1, allowed: 0, total: 1, setHash: "s", operations: [] };
  const { id: hold } = await ledger.approvals.open({ scope: "run", explanation: "e", ...of });
  for (const reason of [
    "asked zelda works",
    "wrote to ZELDA@example.org",
    "+4917655501234 said so",
    "Quentin Quill is gone",
  ]) {
    const blocker = { id: "money:crm/O1", facts: "f" };
    await expect(ledger.books.signOff("2026-09", [blocker], { by: "anna", reason })).rejects.toMatchObject({
      code: "reason.names",
      exitCode: 64,
    });
    await expect(
      ledger.books.signOff("2026-09", [{ id: `hold:${hold}`, facts: "f" }], { by: "anna", reason }),
    ).rejects.toMatchObject({ code: "reason.names" });
    await expect(ledger.approvals.decide(hold, "approved", reason, "anna")).rejects.toMatchObject({
      code: "reason.names",
    });
    // Of the whole ledger.
    await expect(
      ledger.books.signOff("2026-09", [{ id: "sum:bridge", facts: "f" }], { by: "anna", reason }),
    ).rejects.toMatchObject({ code: "reason.names", message: expect.not.stringContaining("crm/C1") });
  }
  expect([...ledger.audit.rows()].filter(({ kind }) => kind === "signed-off" || kind === "hold-approved")).toEqual([]);
  expect(await (await made.inquiry()).holds({ id: hold })).toMatchObject([{ state: "open" }]);
});

it("a reason with words of another customer, or with a name that is a word of every day, is taken", async () => {
  const { ledger } = await world();
  const known = { by: "anna", reason: "known, C2 was asked" };
  await ledger.books.signOff("2026-09", [{ id: "sum:bridge", facts: "f" }], known);
  await ledger.books.signOff("2026-09", [{ id: "money:crm/O1", facts: "f" }], known);
  expect([...ledger.audit.rows()].filter(({ kind }) => kind === "signed-off")).toHaveLength(2);
});

it("who decides may be a person whom the CRM knows where it is about nobody, and not where it is about that person", async () => {
  const { ledger } = await world();
  const decided = { by: "anna.lee", reason: "known" };
  await ledger.books.signOff("2026-09", [{ id: "sum:bridge", facts: "f" }], decided);
  await ledger.books.signOff("2026-09", [{ id: "source:hr", facts: "f" }], decided);
  const own = ledger.books.signOff("2026-09", [{ id: "money:crm/O1", facts: "f" }], decided);
  await expect(own).rejects.toMatchObject({ code: "reason.names" });
  const signed = [...ledger.audit.rows()].filter(({ kind }) => kind === "signed-off");
  expect(signed.map(({ body }) => JSON.parse(body))).toMatchObject([
    { blocker: "sum:bridge" },
    { blocker: "source:hr" },
  ]);
});
