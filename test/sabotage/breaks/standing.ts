import type { Breaks } from "../break.ts";

/** What stood at a moment, and what closed books stand on. */
export const standing: Breaks = {
  "when something waited is the moment of an earlier transaction": {
    file: "src/ledger/context.ts",
    within: "LedgerContext.constructor",
    find: "this.#keepMoment.run(this.now);",
    replace: "",
    test: "inquiry/statement/exceptions-of-a-month.test.ts",
    title:
      "the exceptions of a month > are what stood at its end, also once it is settled, and what was settled in it says when",
  },
  "what was said of an operation then is what is said of it now": {
    file: "src/inquiry/as-of/tables.ts",
    within: "keptOr",
    find: "when w.operation_id is not null then w.${column}",
    replace: "when w.operation_id is not null then t.${column}",
    test: "inquiry/what-stood.test.ts",
    title: "what stood at a moment > is what a copy of the ledger of that moment says, in every statement (seed 1)",
  },
  "what was in doubt at the end of a month is forgotten once it is settled": {
    file: "src/inquiry/exceptions.ts",
    within: "operationsInDoubt",
    find: "or o.updated_at >= ${to}",
    replace: "or false",
    test: "inquiry/statement/exceptions-of-a-month.test.ts",
    title:
      "the exceptions of a month > are what stood at its end, also once it is settled, and what was settled in it says when",
  },
  "what closed books stand on is thinned with the rest": {
    file: "src/ledger/runs/retention.ts",
    within: "closedWhile",
    find: "exists (select 1 from closed_period c where c.as_of >=",
    replace: "exists (select 1 from closed_period c where false and c.as_of >=",
    test: "app/books-anew.test.ts",
    title:
      "every statement of closed books > comes out anew as it was frozen also where what is old was thinned; other moments are refused",
  },
  "what an earlier program did not keep is taken for what was not so": {
    file: "src/inquiry/as-of/as-of.ts",
    within: "stoodSince",
    find: "where key = 'stood since'",
    replace: "where key = 'stood since' and false",
    test: "inquiry/earlier-program.test.ts",
    title:
      "a ledger that an earlier program wrote > says from when on it knows what waited, and guesses nothing of before",
  },
  "an order that moved stood then for whom it stands now": {
    file: "src/inquiry/as-of/tables.ts",
    within: "stoodFor",
    find: "t.placed_for_id is null",
    replace: "true",
    test: "inquiry/statement/moved-then.test.ts",
    title: "an order that moved stands, as of each moment, for whom it stood then, in every statement",
  },
  "whom an order left again since it had not left before": {
    file: "src/inquiry/as-of/tables.ts",
    within: "leftBefore",
    find: "f.version > (",
    replace: "f.version < (",
    test: "inquiry/statement/moved-then.test.ts",
    title: "an order that moved stands, as of each moment, for whom it stood then, in every statement",
  },
};
