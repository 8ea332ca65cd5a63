import { expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import { auditEntries } from "../../support/asking.ts";
import { document, world } from "../../support/cli.ts";
import { mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

it("maps what is kept of a source anew without asking it, and the next run carries out what changed", async () => {
  const { customers, orders, staff } = company(2, 1);
  const w = await world({ records: { customers, orders, staff: [] } });
  const rows = staff.map((person) => ({ ...staffRow(person), full: `${person.name}x` }));
  const service = await startService(({ query }) => ({ body: query["since"] === undefined ? rows : [] }));
  const people = (name: string): void => {
    w.extra = `  people:
    kind: http
    baseUrl: ${service.origin}
    streams:
      staff:
        url: staff
        key: id
        since: { parameter: since }
        mapping: ${JSON.stringify({ ...mappingOf("staff"), name })}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
    w.write();
  };
  people("name");
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 2 });
  const asked = service.asked.length;
  people("full");
  const remapped = await w.does("--json", "remap", "people", "staff", "--by", "Ann");
  expect([remapped.exitCode, remapped.calls]).toEqual([0, {}]);
  expect(document(remapped).streams).toMatchObject([{ source: "people", changed: 2, current: 0, left: [] }]);
  const entry = (await auditEntries(w)).find(({ kind }) => kind === "mapped-anew");
  expect(JSON.parse(entry.body)).toMatchObject({ by: "Ann" });
  expect((await w.ask("remap", "people")).streams).toMatchObject([{ changed: 0, current: 2 }]);
  expect(service.asked, "the source is not asked").toHaveLength(asked);
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls]).toEqual([0, { M2: 2 }]);
  expect(service.asked.at(-1)?.query["since"], "everything is read with the mapping of now").toBeUndefined();
  for (const words of [["nowhere"], ["people", "orders"]])
    expect((await w.run("remap", ...words)).exitCode, words.join(" ")).toBe(64);
});
