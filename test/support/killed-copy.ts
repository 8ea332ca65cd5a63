import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { systemHost } from "../../src/base/host.ts";
import type { World } from "./cli.ts";
import { changeFile } from "./world/start.ts";

/**
 * From now on the world works with its ledger as a kill of the program leaves it at this moment: by the lock of the copy
 * it is known to be dead.
 */
export function asKilledNow(w: World): void {
  for (const suffix of ["", "-wal", ".heads"]) {
    const file = w.path(`ledger.db${suffix}`);
    if (existsSync(file)) copyFileSync(file, w.path(`killed.db${suffix}`));
  }
  writeFileSync(w.path("killed.db.lock"), "");
  const holder = systemHost.holderOf(w.path("killed.db.lock")) ?? "";
  changeFile(w.path("killed.db"), `update attempt set holder = '${holder}'`);
  w.losesItsLedger("killed.db");
}
