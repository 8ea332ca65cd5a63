import type { Breaks } from "../break.ts";

/** Backups, and what a ledger that is put back may do. */
export const backups: Breaks = {
  "a backup counts whose audit record was changed": {
    file: "src/app/backup.ts",
    within: "verifiedHead",
    find: "if ($bad?.good === false)",
    replace: "if ($bad === null)",
    test: "app/backup.test.ts",
    title: "a backup > is none where the record was changed: those before it stay",
  },
  "every older backup goes, whatever is to stay": {
    file: "src/app/backup.ts",
    within: "removeOlder",
    find: "older.slice(0, Math.max(0, older.length - (keep - 1)))",
    replace: "older",
    test: "app/backup.test.ts",
    title: "a backup > takes older ones of its ledger away once it is whole, and nothing else",
  },
  "a backup that is put back without its heads counts as the newest": {
    file: "src/app/restore.ts",
    within: "restoreBackup",
    find: 'if ($gap.kind === "unknown")',
    replace: 'if ($gap.kind === "never")',
    test: "app/backup.test.ts",
    title: "a backup that is put back > is refused too where the file of heads is gone, as nobody knows what was done",
  },
  "a backup of another ledger is put in its place": {
    file: "src/app/restore.ts",
    within: "requireSameLedger",
    find: "name === undefined || name === manifest.ledger",
    replace: "name === undefined || name !== null",
    test: "app/backup.test.ts",
    title:
      "a backup that is put back > touches nothing where the ledger that stands there is another one, or a run is on",
  },
};
