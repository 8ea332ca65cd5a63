import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { crmSync } from "../support/program.ts";
import { folder as newFolder } from "../support/world/start.ts";

it("a configuration is made from a file of answers", { tags: "long" }, async () => {
  const place = newFolder();
  const [config, answers, exports] = ["crm-sync.yaml", "answers.yaml", "exports"].map((name) => join(place, name));
  mkdirSync(exports ?? "");
  const customers =
    "CustomerID,CompanyName,Address,Contact,Email,Mobile\nA1,Alpha GmbH,Road 1 Bonn,Ann,ann@example.com,+4915100000001\n";
  const list = (name: string, content: string): string => {
    writeFileSync(join(exports ?? "", name), content);
    return join(exports ?? "", name);
  };
  const lists = [
    list("customers.csv", customers),
    list("orders.csv", "OrderID,CustomerID,OrderDate,Total\n70,A1,2026-07-01,10.00\n"),
  ];
  writeFileSync(answers ?? "", `zone: UTC\nlists: ${JSON.stringify(lists)}\ncustomers.branchCode: =0012\n`);
  const ended = await crmSync({ config: config ?? "" }, "init", "--answers", answers ?? "");
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(readFileSync(config ?? "", "utf8")).toMatch(/branchCode:\n\s+value: "0012"/u);
  expect(ended.stdout).toContain("customer crm/A1");
});
