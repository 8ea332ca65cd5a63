import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemRandomness } from "../../src/base/ids.ts";
import { Sessions } from "../../src/ledger/sessions/sessions.ts";
import { folder, sqlite } from "../support/world/start.ts";

it("a file of another version is made again once, and says why", () => {
  const path = join(folder(), "sessions.db");
  sqlite(path).pragma("user_version = 7");
  const reasons: string[] = [];
  const anew = (why: string) => void reasons.push(why);
  const sessions = new Sessions({ path, clock: { now: () => 0 }, random: systemRandomness, anew });
  onTestFinished(() => sessions.close());
  expect(sessions.own().name).toMatch(/^crm-sync-/u);
  expect(reasons).toEqual(["of another version of the program"]);
});
