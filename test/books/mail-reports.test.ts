import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startMailServer } from "../support/mail-server.ts";
import { world } from "../support/cli.ts";

const settings = (
  port: number,
): string => `mail: { host: 127.0.0.1, port: ${port}, tls: none, from: crm-sync@example.com }
jobs:
  monthly-report:
    mailTo: [finance@example.com]
    reports: [{ kind: orders, format: csv }, { kind: run, format: html, to: dropped }]
`;

it("reports of a job are mailed as files of one message, and one that is not taken is no success", async () => {
  const server = await startMailServer();
  const w = await world();
  w.extra = settings(server.port);
  w.write();
  expect((await w.run("run", "customers-and-orders")).exitCode).toBe(0);
  const done = await w.run("run", "monthly-report");
  expect(done).toMatchObject({ exitCode: 0 });
  expect(done.stdout).toContain("mailed to 1 recipient");
  const [mail, ...others] = server.received;
  expect(others).toEqual([]);
  expect(mail?.to).toEqual(["RCPT TO:<finance@example.com>"]);
  for (const name of ["orders-", ".licences.csv", "run-"]) expect(mail?.raw).toContain(name);
  expect(readdirSync(w.path("dropped")).filter((name) => name.endsWith(".html"))).toHaveLength(1);
  expect(readdirSync(join(w.path("dropped"), ".."))).toContain("dropped");

  const refusing = await startMailServer({ refuse: "550 nobody here" });
  w.extra = settings(refusing.port);
  w.write();
  const failed = await w.run("run", "monthly-report");
  expect(failed.exitCode).toBe(1);
  expect(failed.stderr).toContain("were written, but not mailed");
  expect(failed.stderr).toContain("550 nobody here");
  expect(failed.stderr.replaceAll(/\s+/gu, " ")).toMatch(/The files are in \S*reports, \S*dropped/u);

  w.extra = settings(server.port).split("\n").slice(1).join("\n");
  w.write();
  const unconfigured = await w.run("check");
  expect(unconfigured.exitCode).toBe(78);
  expect(unconfigured.stderr).toContain("mailTo");
});
