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
    find: "manifest.ledger === null || name === manifest.ledger",
    replace: "manifest.ledger === null || name !== null",
    test: "app/backup.test.ts",
    title:
      "a backup that is put back > touches nothing where the ledger that stands there is another one, or a run is on",
  },
  "what was decided before a backup counts after its restore": {
    file: "src/ledger/gap/gap-statements.ts",
    within: "ended",
    find: '"update approved_operation set used_at = @at where used_at is null"',
    replace: "\"update approved_operation set used_at = @at where used_at is null and @at = ''\"",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > lets what was approved and not carried out by then lapse: it may have been carried out since",
  },
  "an order that stands otherwise than the backup has it counts as it was": {
    file: "src/apply/bring-back.ts",
    within: "standsAsShown",
    find: "stands.size === seen.size",
    replace: "stands.size <= seen.size",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > has an amendment that was bought since, and the next one has a number of its own",
  },
  "a number of an amendment that a restored ledger lacks is given again": {
    file: "src/ledger/state/order-steps.ts",
    within: "numberStatements",
    find: "p.from_at <= g.value ->> 'at'",
    replace: "p.from_at < ''",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > buys nothing under the number of an amendment that came and went since",
  },
  "an order that was placed before the restore and is not shown is placed under its number again": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#notShownHere",
    never: "wasPlaced",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > asks a person again before an order is bought anew that was ended since",
  },
  "whatever writes may go on while a gap is not rebuilt": {
    file: "src/ledger/database/newest.ts",
    within: "requireFilled",
    find: "if (since === undefined)",
    replace: "if (since !== null)",
    test: "faults/killed-restores.test.ts",
    title:
      "a rebuild of a restored ledger that is killed at any commit and made again > lets nobody write in between, and brings all of it back",
  },
  "entries that were lost with a backup are not told of": {
    file: "src/ledger/audit/verify-log.ts",
    within: "verifyRecord",
    find: "gaps.lost.length > 0 && complete.good === true",
    replace: "gaps.lost.length > 1_000",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > says in its audit record from when to when entries are missing and who rebuilt it, and never that it is whole",
  },
  "a head that fits nothing counts as lost wherever a backup was restored": {
    file: "src/ledger/audit/gaps-of-record.ts",
    within: "GapsOfRecord.explain",
    find: "commit <= until.commits",
    replace: "commit > 0",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > says of a record that was written anew after that that it was",
  },
  "a number that went on under another order since the backup is that of nobody": {
    file: "src/apply/rebuild-customer.ts",
    within: "rebuiltOrder",
    find: "[...(await known()), ...aside]",
    replace: "[...(await known())]",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > leaves a seat to who has it where its asset was renewed and ended since (a backup from before the renewal)",
  },
  "an order is taken over although a product of it is shown twice": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#otherwise",
    find: ", ...shownTwice(purchases)",
    replace: ", ...(purchases.length < 0 ? shownTwice(purchases) : [])",
    test: "scenarios/life/restored.test.ts",
    title:
      "a ledger that was restored and whose gap was rebuilt > says of an order with a line that was renewed and not yet taken away that it waits (a backup from before it was renewed)",
  },
};
