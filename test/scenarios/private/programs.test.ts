import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { startService } from "../../source/http-service.ts";
import { world } from "../../support/cli.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { customerRow } from "../../support/world/crm.ts";

it("a program that prints a secret of a source gets the variables that are named and no secret of ours", async () => {
  const w = await world();
  const asked: (string | undefined)[] = [];
  const service = await startService(({ headers }) => {
    asked.push(headers["authorization"]);
    return { body: w.customers.map(customerRow) };
  });
  const names = `console.log(["PATH", "HOME", "VAULT_ADDR", "SEAL_KEY", "CRM_KEY"].filter((name) => name in process.env).join("."))`;
  const shop = {
    kind: "http",
    auth: { kind: "bearer", token: `command:${JSON.stringify([process.execPath, "-e", names])}` },
    environment: ["VAULT_ADDR"],
    streams: { customers: { url: `${service.origin}/customers`, key: "id", mapping: mappingOf("customers") } },
  };
  const text = readFileSync(w.path("crm-sync.yaml"), "utf8");
  const sources = stringify({
    sources: { shop, crm: fileSource("data", ["orders"]), hr: fileSource("data", ["staff"]) },
  });
  writeFileSync(
    w.path("crm-sync.yaml"),
    `${text.slice(0, text.indexOf("sources:"))}${sources}${text.slice(text.indexOf("jobs:"))}`,
  );
  Object.assign(w.environment, {
    PATH: "/bin",
    HOME: w.folder,
    VAULT_ADDR: "https://vault.example",
    CRM_KEY: "hunter-2026-x",
  });
  const { exitCode, stdout } = await w.run("run", "everything");
  expect([exitCode, new Set(asked)], stdout).toEqual([0, new Set(["Bearer PATH.HOME.VAULT_ADDR"])]);
});
