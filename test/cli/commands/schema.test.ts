import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("lists fields with their types and how often they are filled, and describes what is personal", async () => {
  const w = await world({ records: company(4, 1), isNew: true });
  const { rows, isAll, fields } = await w.ask("schema", "hr", "staff");
  expect([rows, isAll]).toEqual([4, true]);
  const of = (name: string): Parsed => fields.find(({ place }: Parsed) => place === name);
  expect(of("login")).toMatchObject({ filled: 4, types: ["text"], fields: ["userName"] });
  expect(of("customer")).toMatchObject({ example: "C1", fields: ["customerId"] });
  expect(of("numbers")).toMatchObject({ types: ["list"] });
});
