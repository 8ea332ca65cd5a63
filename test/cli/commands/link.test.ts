import { expect, it } from "vitest";
import { auditEntries, enterpriseOf } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";

const because = ["--reason", "the service desk said so", "--by", "anna"];

it("links a customer that was unlinked with the enterprise that the platform shows, and with no other", async () => {
  const w = await world();
  await w.run("run", "everything");
  const enterprise = await enterpriseOf(w, "C1");
  expect((await w.run("unlink", "C1", ...because)).exitCode, "an order stands there").toBe(64);
  expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
  expect((await w.run("link", "C1", "7100000000000000999", ...because)).exitCode).toBe(64);
  expect((await w.run("link", "C1", enterprise, "--dry-run", ...because)).exitCode).toBe(0);
  expect(await enterpriseOf(w, "C1")).toBe("");
  expect((await w.run("link", "C1", enterprise, ...because)).exitCode).toBe(0);
  expect(await enterpriseOf(w, "C1")).toBe(enterprise);
  const entries = (await auditEntries(w)).filter(({ kind }) => kind.endsWith("by-hand"));
  expect(entries.map(({ kind, body }) => [kind, JSON.parse(body).by])).toEqual([
    ["unlinked-by-hand", "anna"],
    ["linked-by-hand", "anna"],
  ]);
});
