import { expect, it } from "vitest";
import { ran, runsOf } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("says what became of each record, and the run is listed and shown afterwards", async () => {
  const w = await world({ records: company(2, 1) });
  w.staff = w.staff.map((person, at) => (at === 0 ? { ...person, name: "" } : person));
  w.write();
  const { exitCode, calls, said } = await ran(w);
  expect([exitCode, calls]).toEqual([3, { E2: 2, E5: 2, E9: 1, M1: 1, M9: 1 }]);
  expect(said).toMatchObject({ job: "everything", state: "done", exit: 3, writingCalls: 7 });
  expect(said.balance).toMatchObject({
    adds: true,
    streams: [
      { stream: "customers", extracted: 2, workedOn: 2, adds: true },
      { stream: "orders", extracted: 2, workedOn: 2, adds: true },
      { stream: "staff", extracted: 2, workedOn: 1, quarantined: 1, adds: true },
    ],
  });
  const [run] = await runsOf(w);
  expect(run).toMatchObject({ id: said.run, job: "everything", trigger: "hand", state: "done", exitCode: 3 });
  const shown = await w.ask("run", "show", "last");
  expect(shown.run).toEqual(run);
  expect(shown.operations).toContainEqual({ kind: "place-order", state: "done", count: 2 });
  expect((await w.run("run", "nothing")).exitCode).toBe(64);
});
