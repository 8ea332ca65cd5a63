import { copyFileSync, existsSync } from "node:fs";
import type { World } from "./cli.ts";

/** From now on the world works with its ledger as a kill of the program leaves it at this moment. */
export function asKilledNow(w: World): void {
  for (const suffix of ["", "-wal", ".heads"]) {
    const file = w.path(`ledger.db${suffix}`);
    if (existsSync(file)) copyFileSync(file, w.path(`killed.db${suffix}`));
  }
  w.losesItsLedger("killed.db");
}
