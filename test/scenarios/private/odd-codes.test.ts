import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("says nowhere the name that a service answers as its code", { tags: "long" }, async () => {
  for (const operation of ["E2", "E5", "M1", "E3", "M5"] as const) {
    const w = await world({ records: company(1, 1), isNew: true });
    const name = String(w.customers[0]?.["name"]);
    w.sandbox.faults.add({ operation, fault: "oddCode", code: name });
    for (const words of ["run everything", "--json run everything", "status", "--json status", "--json settle list"]) {
      const { stdout, stderr } = await w.run(...words.split(" "));
      expect(stdout + stderr, `${operation}: ${words}`).not.toContain(name);
    }
    for (const words of [
      ["customer", "C1"],
      ["order", "O1"],
      ["staff", "S1-1"],
    ])
      expect((await w.run("--json", "explain", ...words)).stdout, `${operation}: ${words[0]}`).not.toContain(name);
  }
});
