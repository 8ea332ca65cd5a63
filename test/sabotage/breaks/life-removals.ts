import type { Breaks } from "../break.ts";

/** What is taken away of orders. */
export const lifeRemovals: Breaks = {
  "twins are not looked for": {
    file: "src/plan/removals.ts",
    within: "withoutTwins",
    find: "if ($caught === undefined) return $free;",
    replace: "if (performance.now() > 0) return $free;",
    test: "plan/removals.test.ts",
    title: "a twin > that stays keeps the product that a deletion cannot tell from it",
  },
  "a product with other nodes than were bought is deleted": {
    file: "src/plan/removal-sight.ts",
    within: "otherTerms",
    find: "$row.limitConcurrent !== $product.nodes",
    replace: "$row.limitConcurrent !== $row.limitConcurrent",
    test: "plan/removals.test.ts",
    title:
      "a product that nobody wants any more > stays where M7 shows it with another limitConcurrent; what other numbers hold of it goes",
  },
  "a product of another licence order than was bought is deleted": {
    file: "src/plan/removal-sight.ts",
    within: "sightOf",
    find: "shown !== undefined && known !== undefined && shown !== known",
    replace: "false",
    test: "plan/removals.test.ts",
    title:
      "a product that nobody wants any more > stays where M7 shows it with another licenseOrderId; what other numbers hold of it goes",
  },
  "a bare asset counts as one in which nothing is left": {
    file: "src/plan/removal-sights.ts",
    within: "Sights.decide",
    find: "reading.bare",
    replace: "false",
    test: "plan/removals.test.ts",
    title: "a product that nobody wants any more > stays where M7 shows its asset bare",
  },
  "what one reading leaves out counts as gone": {
    file: "src/apply/absences.ts",
    within: "countOne",
    find: "if ($left === 0 && $readings >= $settle.readings) {",
    replace: "if ($readings >= 1) {",
    test: "scenarios/life/left-alone.test.ts",
    title: "what M7 leaves out a moment after it was bought does not count as gone, and goes once M7 shows it",
  },
  "twins of two policies go by two calls": {
    file: "src/plan/removal-calls.ts",
    within: "putTwinsTogether",
    find: "const twins = $single.filter(($other) => $other === $one || areTwins($one, $other, $limits));",
    replace: "const twins = single.filter((other) => other === one);",
    test: "plan/removals.test.ts",
    title: "a twin > in a package takes the other one into the call that a person approves by itself",
  },
  "a twin that was not named counts as gone with the answer": {
    file: "src/plan/removal-records.ts",
    within: "itemsOf",
    find: "return namedRows($rows, $limits).map(",
    replace: "return rows.map(",
    test: "plan/removals.test.ts",
    title: "a twin > that goes as well is named once, and only what is named counts as gone with the answer",
  },
  "what a deletion out of all orders takes along is not what is approved": {
    file: "src/plan/removal-everywhere.ts",
    within: "everywhere",
    find: "before: { also: $named },",
    replace: "before: { also: [] },",
    test: "plan/removals.test.ts",
    title:
      "a product of which neither M7 nor the ledger knows the licence order > is another operation once something else would go along",
  },
  "what is wanted goes out of all orders": {
    file: "src/plan/removal-everywhere.ts",
    within: "isWanted",
    find: "const isOurs = $known.numbers.some(($fixed) => $fixed.number === $number);",
    replace: "const isOurs = false; if (isOurs === false) return false;",
    test: "scenarios/life/out-of-all-orders.test.ts",
    title: "what a deletion out of all orders would take along since it was approved stays: a line of the order",
  },
  "what E8 alone shows counts as not lent": {
    file: "src/plan/removal-sights.ts",
    within: "lent",
    find: "if (saysLent.has($asset.from) || $lock !== undefined) return undefined;",
    replace: "if (performance.now() > 0) return undefined;",
    test: "scenarios/life/borrowed.test.ts",
    title: "what is to go while M6 is short and E8 shows it > stays where it may be lent: E8 does not say",
  },
  "an order is whole where each of its numbers shows a part": {
    file: "src/operation/order-sight.ts",
    within: "isWhole",
    find: "if ($record.promised !== undefined && $record.standing !== $record.promised) return false;",
    replace: "",
    test: "operation/order-sight.test.ts",
    title:
      "an order is whole where each of its numbers shows all that was promised of it, and not where each shows a part",
  },
  "what went of an asset that is still there is counted twice": {
    file: "src/operation/deletion.ts",
    within: "partOf",
    find: "$going.products.filter($counts)",
    replace: "going.products.filter((item) => gone.has(keyOf(item.assetId, item.crmProductId, item.licenseOrderId)))",
    test: "apply/settle-deletions.test.ts",
    title:
      "assets whose deletion had no answer > of which one is gone and another one in part end so far, and each product is counted once",
  },
  "what a person did by hand is bought a second time": {
    file: "src/plan/there-already.ts",
    within: "withoutThereAlready",
    find: "if ($block === undefined) return true;",
    replace: "if (performance.now() > 0) return true;",
    test: "scenarios/life/left-alone.test.ts",
    title: "what a person did by hand as the program advised is not bought a second time, and counts once that is said",
  },
  "the old form goes before M7 shows the new one": {
    file: "src/plan/removal-sights.ts",
    within: "Sights.#overlap",
    find: 'if (sight.is === "gone") return overlap($number, [$standing]);',
    replace: "",
    test: "plan/removals.test.ts",
    title: "an old form > stays until M7 shows the new one under the number that it was bought with",
  },
  "the second of two old assets goes though its own new one is not shown": {
    file: "src/plan/order-difference.ts",
    within: "compareUnits",
    find: "$others.slice($lacks).entries()) { const by = $kept[$index];",
    replace: "$others.slice($lacks).entries()) { const by = $kept[$index * 0];",
    test: "plan/removals.test.ts",
    title:
      "an old form > of an asset stays until the one that takes its own place is shown, with what was added to that since",
  },
  "the old form goes though the new one is shown otherwise than it was bought": {
    file: "src/plan/removal-sights.ts",
    within: "Sights.#overlap",
    find: 'if ($sight.is === "blocked") return $sight.block;',
    replace: "",
    test: "plan/removals.test.ts",
    title: "an old form > stays where M7 shows the new one otherwise than it was bought",
  },
  "with a gap the new form is bought at once": {
    file: "src/plan/amendments.ts",
    within: "buyWhatIsLacking",
    find: 'const $hasGap = $policies.replacement === "gap";',
    replace: "const $hasGap = performance.now() < 0;",
    test: "scenarios/life/replace.test.ts",
    title: "with a gap the old form goes first, and a held deletion holds the purchase with it",
  },
  "an empty licence order needs no approval of its own": {
    file: "src/operation/delete-everywhere.ts",
    within: "deleteEverywhere",
    find: "approvedAlone: true",
    replace: "approvedAlone: false",
    test: "cli/empty-source.test.ts",
    title: "an empty source of a deletion is sent only once its very operation was approved, with a reason",
  },
  "what M6 and E8 leave out counts as deleted": {
    file: "src/operation/deletion.ts",
    within: "readDeletion",
    find: "await snapshot.contentsById(context.enterpriseGlobalId, assetId)",
    replace:
      "[...(await snapshot.allAssets(context.enterpriseGlobalId)).values()].some((one) => one.assetId === assetId) " +
      '? await snapshot.contentsById(context.enterpriseGlobalId, assetId) : "gone"',
    test: "apply/settle-deletions.test.ts",
    title: "assets whose deletion had no answer > are not gone because M6 and E8 leave them out",
  },
  "seats of what is to go are revoked": {
    file: "src/plan/revokes.ts",
    within: "planRevokes",
    find: "if (allocation.staying.has(item.assetNumber)) continue;",
    replace: "",
    test: "scenarios/life/cancelled.test.ts",
    title:
      "a cancelled order is held with its sum; its people keep their seats until it is approved, then all of it goes",
  },
};
