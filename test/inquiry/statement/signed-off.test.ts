import { expect, it } from "vitest";
import { ask } from "../../support/world/asked.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord } from "../../support/world/records.ts";
import { cells, month, statementOf } from "./statement-world.ts";
import { trusted } from "../../support/trusted.ts";

it("an exception is signed off by the person who took it as it is, for that month alone", async () => {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-05T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  const { hold: first } = await ask(world.ledger, "C1");
  const { hold: second } = await ask(world.ledger, "C2");
  world.now = Date.parse("2026-11-02T10:00:00Z");
  const signed = (await (await world.inquiry()).blockers(month("2026-10"))).filter(({ id }) => id === `hold:${first}`);
  await world.ledger.books.signOff("2026-10", signed, { by: "anna", reason: "decided in November" }, trusted);
  // What ben signed was something else by then.
  const other = [{ id: `hold:${second}`, facts: "f".repeat(64) }];
  await world.ledger.books.signOff("2026-10", other, { by: "ben", reason: "not this" }, trusted);
  const of = async (label: string): Promise<unknown> => {
    const { exceptions = [] } = await statementOf(world.path, "exceptions", month(label));
    const rows = exceptions.filter(({ kind }) => kind === "held");
    return Object.fromEntries(
      cells(rows, "hold", "signed_off_by", "signed_off_at", "sign_off_reason").map(([hold, ...rest]) => [hold, rest]),
    );
  };
  const nobody = [null, null, null];
  expect(await of("2026-10")).toEqual({
    [first]: ["anna", "2026-11-02T10:00:00.000Z", "decided in November"],
    [second]: nobody,
  });
  expect(await of("2026-11")).toEqual({ [first]: nobody, [second]: nobody });
});
