import type { Breaks } from "../break.ts";

const gone = "a person whose row is skipped stays as they were, however often it is read, while one who is gone goes";
const anew = "a person who was missed and is skipped then is not missed any more: the count begins anew";

/** Records that a stream leaves out. */
export const skipping: Breaks = {
  "a record that is skipped counts as missing": {
    file: "src/ledger/records/absence.ts",
    within: "AbsenceTables.#unseen",
    find: "skipped?.has($hash) !== true",
    replace: "true",
    test: "cli/skipped.test.ts",
    title: gone,
  },
  "a record that is skipped is missed still": {
    file: "src/ledger/records/skipped.ts",
    within: "SkippedTables.leave",
    find: "this.#statements.see.run($stream, $namespace, $id, $source);",
    replace: "",
    test: "cli/skipped.test.ts",
    title: anew,
  },
  "something counts as gone although a skipped row may be it": {
    file: "src/ledger/records/absence.ts",
    within: "whyNot",
    find: "skipped > 0",
    replace: "skipped < 0",
    test: "cli/skipped.test.ts",
    title: "while a skipped row may be any record, nothing counts as gone; a row that names none is no record",
  },
  "a skipped record leaves the run without a count": {
    file: "src/run/balance.ts",
    within: "balanceOf",
    find: "$unchanged + $planned + $quarantined + $deferred + $rejected + $skipped",
    replace: "$unchanged + $planned + $quarantined + $deferred + $rejected",
    test: "cli/skipped.test.ts",
    title: gone,
  },
  "a secret may be read by an expression of a list": {
    file: "src/source/mapping/compile.ts",
    within: "isContainer",
    find: "$read.goesThrough",
    replace: "true",
    test: "source/mapping-lists.test.ts",
    title: "secrets in lists that are chosen from > may not be read by a text of the list",
  },
};
