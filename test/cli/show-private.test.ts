import { chmodSync, readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { crmSync } from "../support/program.ts";
import { world } from "../support/cli.ts";
import { canary, company } from "../support/world/crm.ts";

it(
  "a plan shows the personal data behind its markers to whoever asks for it by name, and to nobody else",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 1) });
    const file = w.path("plan.ndjson");
    await w.run("plan", "--out", file);
    expect(readFileSync(file, "utf8")).toContain('"private":"withheld"');
    expect(readFileSync(file, "utf8")).not.toContain(canary.name);

    const words = ["plan", "--show-private", "--by", "anna.lee", "--out", file];
    const shown = await crmSync(w.place, ...words);
    expect(shown.exitCode, shown.stderr).toBe(2);
    expect(shown.stdout).toMatch(new RegExp(`\\(private\\) customers/crm/C1@1#name: .*${canary.name}`, "u"));
    expect(shown.stderr).not.toContain(canary.name);
    const text = readFileSync(file, "utf8");
    expect(text).toContain('"private":"shown"');
    expect(text).toContain(canary.name);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const asJson = await crmSync(w.place, "--json", "plan", "--customer", "C1", "--show-private", "--by", "anna.lee");
    const [customer] = asJson.stdout
      .trimEnd()
      .split("\n")
      .map((line): { private?: Record<string, string> } => JSON.parse(line));
    expect(Object.keys(customer?.private ?? {})).toContain("staff/crm/S1-1@1#userName");
    expect(Object.keys(customer?.private ?? {}).filter((key) => /password/iu.test(key))).toEqual([]);
    expect(
      w
        .rows<{ body: string }>("select body from audit where kind = 'private-shown' order by sequence")
        .map(({ body }): unknown => JSON.parse(body)),
    ).toEqual([
      { by: "anna.lee", scope: null },
      { by: "anna.lee", scope: { customer: { namespace: "crm", id: "C1" } } },
    ]);

    // It is applied as any other, and what was shown leaves no trace in the ledger.
    expect((await w.run("apply", file)).exitCode).toBe(0);
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
    const unnamed = await w.run("plan", "--show-private", "--by", "anna@example.com");
    expect(unnamed.exitCode).toBe(64);
  },
);

it("a plan with personal data is for its owner alone, also where a file of that name was there before", async () => {
  const w = await world({ records: company(1, 1) });
  const file = w.path("plan.ndjson");
  await w.run("plan", "--out", file);
  // A plan without personal data that somebody let colleagues read.
  chmodSync(file, 0o644);
  await crmSync(w.place, "plan", "--show-private", "--by", "anna.lee", "--out", file);
  expect(readFileSync(file, "utf8")).toContain('"private":"shown"');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
