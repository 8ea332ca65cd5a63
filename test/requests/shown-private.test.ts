import { expect, it } from "vitest";
import { privateIn } from "../../src/requests/plans.ts";
import { commitmentTo } from "../../src/ledger/private/private.ts";
import { update } from "../ledger/opened.ts";

it("a plan shows what is kept behind its markers, and of what was erased that it is", () => {
  const marker = (field: string) => ({
    $private: "customers/crm/C1",
    field,
    version: 1,
    commitment: commitmentTo("salt", field, "text"),
  });
  const payload = { crmCustomerId: "C1", branchName: "B", name: marker("name"), address: marker("address") };
  const operation = update("C1", { payload });
  expect(privateIn({ operations: [operation] }, ({ field }) => (field === "name" ? "Ann" : undefined))).toMatchObject({
    "customers/crm/C1@1#address": "(erased)",
    "customers/crm/C1@1#name": "Ann",
  });
});
