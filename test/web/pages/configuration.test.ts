import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { operator, showing } from "../../support/showing.ts";

it("the page of the configuration says where each setting comes from, and shows a secret by its reference", async () => {
  const w = await world();
  const hook = "https://hooks.example.com/services/T0/B0/hook-secret-value";
  Object.assign(w.environment, { HOOK: hook, CRM_KEY: "key-of-the-crm-0815" });
  writeFileSync(w.path("password.txt"), "password-of-the-database\n");
  w.extra = `alerts:
  deadMansSwitches: [{ name: ping, url: env:HOOK }]
mail: { host: mail.example.com, from: sync@example.com, user: sync, password: file:password.txt }
`;
  w.write();
  await w.run("status");
  const pages = await showing(w);
  const { text } = await pages.get("/configuration");
  for (const reference of ["env:HOOK", "env:SEAL_KEY", "file:password.txt"]) expect(text).toContain(reference);
  expect(text).toMatch(/settle\.timeMs<\/bdi><\/code>[\s\S]{0,300}?environment CRM_SYNC__settle__timeMs/u);
  expect(text).toMatch(/ledger\.path<\/bdi><\/code>[\s\S]{0,300}?crm-sync\.yaml:\d+:\d+/u);
  const secrets = ["hook-secret-value", "key-of-the-crm-0815", "password-of-the-database", "sandbox-app-token"];
  for (const secret of [...secrets, w.environment["SEAL_KEY"] ?? ""])
    for (const path of ["/configuration", "/alerts", "/today"])
      expect((await pages.get(path)).text.includes(secret), path).toBe(false);
});

it("an operator alone has sources and services looked at", { tags: "long" }, async () => {
  const w = await world();
  await w.run("run", "everything");
  const reader = await showing(w, { ...operator, role: "see" });
  expect((await reader.get("/configuration")).text).not.toContain("/configuration/check");
  expect((await reader.post("/configuration/check", {})).status).toBe(403);
  const pages = await showing(w);
  await pages.post("/configuration/check", {});
  await expect.poll(() => pages.dashboard.longReads.current).toBeUndefined();
  expect((await pages.get("/configuration")).text).toContain("source hr");
});
