import { readFileSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { company } from "../../support/world/crm.ts";

it("shows the record again after each save, waits out a mistake, and ends when it is stopped", async () => {
  const w = await world({ records: company(1, 1), isNew: true });
  const stop = new AbortController();
  const file = w.path("crm-sync.yaml");
  const shown: string[] = [];
  let [said, view] = ["", Promise.withResolvers<void>()];
  const stdout = {
    write(text: string | Buffer, done?: () => void): boolean {
      said += String(text);
      done?.();
      return true;
    },
  };
  // After a view, stderr says that the next save is waited for.
  const hear = (text: string): void => {
    if (said === "" || !text.includes(file)) return;
    shown.push(said);
    said = "";
    view.resolve();
  };
  const next = async (): Promise<string> => {
    await view.promise;
    view = Promise.withResolvers();
    await turn();
    return shown.at(-1) ?? "";
  };
  const ended = crmSync({ ...w.place, signal: stop.signal, stdout, hear }, "watch", "hr", "staff");
  expect(await next()).not.toContain("bad-user-name");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("userName: login", "userName: { value: not a login }"));
  expect(await next()).toContain("bad-user-name");
  writeFileSync(file, text.replace("userName: login", "userNam: login"));
  writeFileSync(file, text);
  expect(await next()).not.toContain("bad-user-name");
  expect(shown).toHaveLength(3);
  stop.abort();
  expect((await ended).exitCode).toBe(0);
});
