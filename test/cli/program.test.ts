import { expect, it } from "vitest";
import { document, documents, world } from "../support/cli.ts";
import { canary, company, staffRow } from "../support/world/crm.ts";
import { crmSync } from "../support/program.ts";

it("does and says the same in a process of its own as in that of the tests", async () => {
  const w = await world({ isOnMachineTime: true, records: company(1, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const words of ["--json explain order O1", "statis"]) {
    const own = await w.start(...words.split(" ")).ended;
    expect(await w.run(...words.split(" ")), words).toEqual(own);
  }
  const version = await w.plain("--version");
  expect([version.exitCode, version.stderr]).toEqual([0, ""]);
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
});

it("gives JSON and nothing else on stdout, with every command that is asked for it", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  const [person] = w.staff;
  if (person === undefined) throw new Error("there is nobody");
  const login = `${canary.login}y`;
  w.staff.push({ ...staffRow(person), id: "S1-2", login, name: "x".repeat(31) });
  w.write();
  const commands: [string, number][] = [
    ["plan", 3],
    ["run everything", 3],
    ["resync --customer C1", 3],
    ["apply", 3],
    ["run verify", 3],
    ["check", 3],
    ["status", 0],
    ["runs", 0],
    ["run show last", 0],
    ["explain customer C1", 0],
    ["explain order O1", 0],
    ["explain staff S1-2", 0],
    ["explain order nowhere", 64],
    ["quarantine list", 0],
    ["quarantine retry all", 3],
    ["quarantine show q-nowhere", 64],
    ["settle list", 0],
    ["report orders --period 2026-10 --format json", 0],
    ["report reconciliation --period 2026-10 --format json", 0],
    ["report exceptions --period 2026-10 --format json", 0],
    ["audit verify", 0],
    ["audit head", 0],
    ["audit export", 0],
    ["migrate", 0],
    ["run nothing", 64],
  ];
  for (const [words, code] of commands) {
    const ended = await w.run("--json", ...words.split(" "));
    expect.soft(ended.exitCode, `${words}: ${ended.stdout}${ended.stderr}`).toBe(code);
    expect.soft(documents(ended).length, words).toBeGreaterThan(0);
  }
  const [row] = await w.ask("quarantine", "list");
  expect(await w.ask("quarantine", "show", row.id)).toMatchObject({ id: row.id, field: "name" });
  const raw = await crmSync({ ...w.place, clock: w.clock }, "--json", "quarantine", "show", row.id, "--raw");
  expect(document(raw).raw, "whoever asks for the raw form is shown it").toContain(login);
});
