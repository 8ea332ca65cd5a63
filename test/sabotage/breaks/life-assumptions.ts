import type { Breaks } from "../break.ts";

/** What the services contradict, and what rests on it. */
export const lifeAssumptions: Breaks = {
  "an enterprise that is shown under its number confirms nothing": {
    file: "src/apply/customer-snapshot.ts",
    within: "CustomerSnapshot.#readCustomers",
    find: "[underItsNumber, metByChannel(ours, settings)]",
    replace: "[metByChannel(ours, settings)]",
    test: "cli/assumptions.test.ts",
    title: "every row is listed with what it met, and the letter has every question and no name of anybody",
  },
  "what rests on a contradicted assumption is planned": {
    file: "src/plan/rejections.ts",
    within: "StandingRejections.operations",
    find: "?? contradictedBlock(made, this.#rules.contradicted)",
    replace: "",
    test: "plan/policy.test.ts",
    title:
      "what a policy makes of an operation that is meant > sends nothing that rests on what was contradicted, and everything else",
  },
  "a contradiction of one part stops all that rests on the row": {
    file: "src/operation/assumptions-met.ts",
    within: "contradictionOf",
    find: "found.about.includes(about)",
    replace: "true",
    test: "scenarios/contradictions.test.ts",
    title: "A29 is contradicted with its evidence, stops what rests on it, and nothing else",
  },
  "a list that adds up ends no row of those that did not": {
    file: "src/ledger/state/assumptions-met.ts",
    within: "AssumptionsMet.wholeList",
    find: "if (this.#incomplete.delete(key))",
    replace: "if (false)",
    test: "ledger/assumptions.test.ts",
    title: "lists that do not add up are counted one after the other, over restarts, until one does",
  },
  "a call that was planned before a contradiction is sent": {
    file: "src/apply/deliver.ts",
    within: "deliver",
    find: "if (contradicted !== undefined && existing === undefined)",
    replace: "if (false)",
    test: "cli/assumptions.test.ts",
    title: "what was planned before a contradiction is not sent after it",
  },
  "a refusal of something inside a field counts as one of the field": {
    file: "src/operation/assumptions-met.ts",
    within: "metByRefusal",
    find: 'const field = $code === "13004" ? $fields.find(names) : undefined;',
    replace: 'void names; const field = code === "13004" ? fields.find((name) => words.includes(name)) : undefined;',
    test: "operation/assumptions-met.test.ts",
    title: "a refusal that names a field contradicts what rests on it, and one that names something inside it does not",
  },
  "an order of a type that is not shown is sent again as the settings say": {
    file: "src/apply/licence-types.ts",
    within: "isShown",
    find: "return false;",
    replace: "void found;",
    test: "scenarios/contradictions.test.ts",
    title: "A43 is contradicted with its evidence, stops what rests on it, and nothing else",
  },
};
