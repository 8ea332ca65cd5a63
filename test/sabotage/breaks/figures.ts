import type { Breaks } from "../break.ts";

/** The figures that finance reads of a month. */
export const figures: Breaks = {
  "whose an asset number was is forgotten when the CRM gives it to another order": {
    file: "src/ledger/state/asset-numbers.ts",
    within: "AssetNumberRows.fixNumbers",
    find: "run.keepEnded.run({ at, number: given });",
    replace: "",
    test: "inquiry/statement/given-on.test.ts",
    title: "a number that the CRM gives to another order later leaves the months before as they were",
  },
  "rounding is allowed for each unit of a line, and not for the line": {
    file: "src/report/statement/reconciled-verdict.ts",
    within: "linesOf",
    find: "bought + (wanted < bought ? wanted : bought)",
    replace: "2n * wanted * bought",
    test: "inquiry/statement/money.test.ts",
    title: "what units cost more or fewer of which the CRM wants > the double price of very many units: different true",
  },
  "an order's money counts as observed when any line of it is shown": {
    file: "src/report/statement/reconciled.ts",
    within: "observedOf",
    find: "minor -= line.amount.minor;",
    replace: "",
    test: "inquiry/statement/money.test.ts",
    title: "what is observed of an order's money > is all but that of the lines that are not shown",
  },
  "an order is of the month of the moment that its local date begins at": {
    file: "src/report/statement/period.ts",
    within: "sidesOf",
    find: "$zone === undefined",
    replace: "$zone !== null",
    test: "report/statement/period.test.ts",
    title: "a date of the CRM > is in one month of two that were closed in different zones",
  },
  "the zone of a date is lost when its order is taken up": {
    file: "src/ledger/records/record-tables.ts",
    within: "RecordTables.ingest",
    find: "item.zones === undefined ? null : JSON.stringify(item.zones)",
    replace: "null",
    test: "scenarios/zones-of-sources.test.ts",
    title: "a date that a CRM gave is that date in every statement, wherever the CRM is",
  },
  "dates that one order gives as days and as moments all count as days": {
    file: "src/source/mapping/fields.ts",
    within: "notingZone",
    find: "$known === undefined || $known === $zone ? $zone : null",
    replace: "$zone",
    test: "source/mapping.test.ts",
    title: "the zone of a local date > is that of a field of many items where they agree, and of no record before",
  },
};
