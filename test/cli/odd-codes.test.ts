import { expect, it } from "vitest";
import { expectDecent, world } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";

it.each(["E2", "E5", "M1", "E3", "M5"] as const)(
  "a name that a service answers as the code of %s is nowhere in what is said",
  { tags: "long" },
  async (operation) => {
    const w = await world({ records: company(2, 2), isNew: true });
    const name = String(w.customers[0]?.["name"]);
    expect(name.length).toBeGreaterThan(3);
    w.sandbox.faults.add({ operation, fault: "oddCode", code: name });
    for (const words of [["run", "everything"], ["--json", "run", "everything"], ["status"], ["--json", "status"]]) {
      const ended = await w.run(...words);
      expectDecent(words, ended);
      expect(`${ended.stdout}${ended.stderr}`).not.toContain(name);
    }
    const kept = w.rows("select outcome_code, outcome_message, evidence from operation");
    expect(JSON.stringify(kept)).not.toContain(name);
  },
);
