import type { Breaks } from "../break.ts";

/** What happens to orders that go on under the numbers of earlier ones. */
export const lifeRenewals: Breaks = {
  "what goes of two units with one asset number is recorded of the first of them": {
    file: "src/plan/removal-calls.ts",
    within: "batchesOf",
    find: "JSON.stringify([$number, $unit.instanceId, $unit.unit])",
    replace: "JSON.stringify([$number, $unit.licenseType])",
    test: "scenarios/life/renewed.test.ts",
    title: "what goes of an asset and of the one that renews it in the same order goes of each of them",
  },
  "a unit that was renewed here counts beside the renewal that goes on": {
    file: "src/plan/renewals.ts",
    within: "isContinued",
    find: "return $by.some(",
    replace: "return by.slice(0, 0).some(",
    test: "scenarios/life/renewed-more.test.ts",
    title:
      "a line that takes the place of a renewal goes on under its number, and what it has more gets numbers of its own",
  },
  "who renewed a renewal counts as who renewed what that one continues": {
    file: "src/plan/renewals.ts",
    within: "renewerOf",
    find: "chain[chain.findIndex((unit) => nameOf(unit) === name) - 1] ?? by",
    replace: "chain[0] ?? by",
    test: "scenarios/life/renewed-again.test.ts",
    title: "what somebody took of a renewal that was renewed itself is bought again, under a number of its own",
  },
  "a renewal does not wait for units of the earlier asset that are still to be bought": {
    file: "src/plan/renewals.ts",
    within: "lackingOf",
    find: "if ($wanted <= $stand ||",
    replace: "if ($wanted > 0 ||",
    test: "scenarios/life/renewed-more.test.ts",
    title:
      "a renewal waits while units of the earlier asset are still to be bought, and then goes on under each of them",
  },
  "an earlier order that nothing looks at now is taken for one that stands whole": {
    file: "src/ledger/state/known.ts",
    within: "KnownTables.#earlier",
    find: "$agrees && isSameKey($placed.customer, $customer) ? [] : [$order]",
    replace: "$agrees && isSameKey($placed.customer, $customer) ? [] : []",
    test: "scenarios/life/renewed-more.test.ts",
    title:
      "a renewal waits while units of the earlier asset are still to be bought, and then goes on under each of them",
  },
  "what stands of an order that is told of, and to which something was transferred, is not known": {
    file: "src/ledger/state/known.ts",
    within: "KnownTables.#addStandings",
    find: "if ($placed === undefined || $standings.has($name)) continue;",
    replace: "if ($placed !== undefined || $standings.has($name)) continue;",
    test: "scenarios/life/exchanged.test.ts",
    title: "a product goes also where only the words of what it was transferred to differ by then",
  },
  "a unit goes though a renewal is to have one more of it": {
    file: "src/plan/taken-over.ts",
    within: "standingIn",
    find: "$units.length < $quantity ? [] :",
    replace: "$units.length < 1 ? [] :",
    test: "scenarios/life/renewed-more.test.ts",
    title:
      "a unit stays while the renewal is to have one more of it, and goes once that stands, whatever else is told of it",
  },
  "a number with nothing in it ends though a renewal waits to go on under it": {
    file: "src/plan/amendments.ts",
    within: "endEmptied",
    find: "$takersOf($instanceId).length > 0",
    replace: "$takersOf($instanceId).length < 0",
    test: "scenarios/life/renewed-more.test.ts",
    title:
      "a unit in which nothing is left stays with its holder while a renewal of it cannot be bought, and goes on with that",
  },
  "an asset that is shown with nothing in it is renewed": {
    file: "src/plan/there-already.ts",
    within: "notRenewable",
    find: "if ($reading.bare) {",
    replace: "if ($reading.bare && performance.now() < 0) {",
    test: "scenarios/life/renewed-more.test.ts",
    title: "an asset that M7 shows with nothing in it is not renewed while that may hide something",
  },
  "who holds what ends with a renewal loses it before that was approved": {
    file: "src/plan/seat-allocation.ts",
    within: "endingOf",
    find: "unitsNamed($item)",
    replace: "[$item]",
    test: "scenarios/life/renewed-more.test.ts",
    title:
      "who holds what ends with the renewal alone keeps it until that was approved, by the name of the earlier asset",
  },
  "two assets of one order renew one unit": {
    file: "src/plan/renewals.ts",
    within: "renewedUnits",
    find: "$here.set(nameOf($next.earlier), $asset.id);",
    replace: "",
    test: "scenarios/life/renewed-more.test.ts",
    title: "two assets of one order that continue the same unit are not bought, and the reason names the other asset",
  },
  "nobody is kept from the number of a renewal that moves away": {
    file: "src/plan/orders.ts",
    within: "withoutStaying",
    find: "$moving.has(formatKey({ namespace, id })) ? [] : [$number]",
    replace: "[$number]",
    test: "scenarios/life/renewed-moved.test.ts",
    title:
      "a renewal that moves after the earlier order has ended leaves nothing behind, and nobody is given its number meanwhile",
  },
  "a number that M7 shows beside another one is gone on under": {
    file: "src/plan/shown-numbers.ts",
    within: "numbersShown",
    find: "if ($whole.length !== $showing.length || $whole.length !== $units.length) {",
    replace: "if ($whole.length < $units.length) {",
    test: "scenarios/life/renewed-adopted.test.ts",
    title: "an adopted order that M7 shows under more numbers than it has units is not renewed, and the reason says so",
  },
  "the number that an adopted order is shown under is not kept": {
    file: "src/apply/pool.ts",
    within: "NumberPool.#fixShown",
    find: "if ($shown !== true || $earlier === undefined) continue;",
    replace: "if ($shown === true || $earlier !== undefined) continue;",
    test: "scenarios/life/renewed-adopted.test.ts",
    title:
      "what an adopted order has is renewed under the number that M7 shows it under, and goes with the last of both",
  },
  "what a renewal has of the same name counts as put there by hand": {
    file: "src/plan/there-already.ts",
    within: "boughtUnder",
    find: "$stood ? [...($standings?.values() ?? [])].filter(($one) => $one !== $standing) : []",
    replace: "[]",
    test: "scenarios/life/renewed.test.ts",
    title:
      "what an order and its renewal both name gets other terms in one of them, and that one alone is changed (order 3)",
  },
  "what stands of a renewal is not known where the earlier order is changed": {
    file: "src/ledger/state/known.ts",
    within: "KnownTables.#standings",
    find: "...sharingOrders($known.numbers, $key)",
    replace: "",
    test: "scenarios/life/renewed.test.ts",
    title:
      "what an order and its renewal both name gets other terms in one of them, and that one alone is changed (order 1)",
  },
  "a renewal that ended is not known to have gone on": {
    file: "src/plan/renewals.ts",
    within: "isMore",
    find: "if ($ended.some(",
    replace: "if (performance.now() < 0 && ended.some(",
    test: "scenarios/life/renewed-restored.test.ts",
    title: "a renewal that was cancelled after the earlier order had ended comes back under a number of its own",
  },
  "an order that renews its own asset waits for itself where it moves": {
    file: "src/plan/renewals.ts",
    within: "ofAnother",
    find: "isSameKey($from, $order) ? undefined : stillWanted(",
    replace: "stillWanted(",
    test: "scenarios/life/renewed-moved.test.ts",
    title: "an order that renews one of its own assets is bought where it moved to (renewed before it moved: true)",
  },
  "a cancelled renewal waits for what waits for a purchase under its number": {
    file: "src/plan/removals.ts",
    within: "planRemovals",
    find: "wholeUnits($endings.filter(({ $needs }) => $needs.length === 0))",
    replace: "wholeUnits(endings)",
    test: "scenarios/life/renewed-restored.test.ts",
    title: "a renewal that is cancelled makes room for one by its own order, and neither waits for the other",
  },
  "of the units of one order under a number only the first is looked at": {
    file: "src/plan/there-already.ts",
    within: "thereAlready",
    find: "const $stands = $own.flatMap(",
    replace: "const stands = own.slice(0, 1).flatMap(",
    test: "scenarios/life/renewed.test.ts",
    title: "what renews an asset of its own order gets other terms while the old one still waits to be taken away",
  },
  "what is shown twice is deleted whatever the settings say of packages": {
    file: "src/plan/removal-sight.ts",
    within: "repeatedOf",
    find: "if (!$limits.repeats ||",
    replace: "if (",
    test: "scenarios/life/repeated-packages.test.ts",
    title:
      "what was bought with packages repeated is left alone where the settings say otherwise by now, and the reason says so",
  },
};
