import type { Breaks } from "../break.ts";

/** What becomes of an operation whose outcome is unknown. */
export const settling: Breaks = {
  "the settle time is skipped": {
    file: "src/apply/settle.ts",
    find: "if (left > 0 || readings.length < settle.readings) {",
    replace: "if (readings.length < settle.readings) {",
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > is parked for a person only after three unseen readings and the settle time, never before",
  },
  "one unseen reading is enough": {
    file: "src/apply/settle.ts",
    find: "if (left > 0 || readings.length < settle.readings) {",
    replace: "if (left > 0) {",
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > counts three readings also when the settle time is over long since",
  },
  "readings of an earlier run are forgotten": {
    file: "src/apply/settle.ts",
    find: `await ledger.noteEvidence(row.id, evidence);
      row.evidence = evidence;
      const pause`,
    replace: "const pause",
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > counts three readings also when the settle time is over long since",
  },
  "a reading that failed counts as one that shows nothing": {
    file: "src/apply/settle.ts",
    find: `return { kind: "unreadable", id, reason: messageOf(error) };`,
    replace: `reading = { kind: "unseen", detail: { reason: messageOf(error) } };`,
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > takes a reading that failed for nothing",
  },
  "an order that is not shown is sent again although a person is to be asked": {
    file: "src/apply/settle.ts",
    find: `if (this.#deps.ordersUnseen === "resend") {`,
    replace: `if (this.#deps.ordersUnseen !== undefined) {`,
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > is parked for a person only after three unseen readings and the settle time, never before",
  },
  "an order that is not shown counts as not applied": {
    file: "src/apply/settle.ts",
    find: `case "place-order":
        if (`,
    replace: `case "place-order":
        return await this.#drop(row, evidence, []);
        if (`,
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > counts three readings also when the settle time is over long since",
  },
  "an order whose answer was lost is sent again without a look": {
    file: "src/apply/settle.ts",
    find: `if (operation.kind === "update-enterprise") {`,
    replace: `if (operation.kind === "update-enterprise" || operation.kind === "place-order") {`,
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > is done at the first reading that shows it, with the licence orders that M7 names",
  },
  "a cancelled order in doubt is sent again": {
    file: "src/apply/settle.ts",
    find: `return same ? "the same" : "gone";`,
    replace: `return "the same";`,
    test: "apply/settle-orders.test.ts",
    title: "an order in doubt that the CRM no longer wants as it was > cancelled: it is not sent again",
  },
  "the settle time is counted from the restart": {
    file: "src/apply/settle.ts",
    find: "toInstant(Date.parse(started) + this.#deps.settle.timeMs)",
    replace: "toInstant(this.#deps.clock.now() + this.#deps.settle.timeMs)",
    test: "apply/settle.test.ts",
    title:
      "a program that was killed while an order was on its way > does not count the settle time from the restart, nor call anything unseen before it is over",
  },
  "the settle time is counted on the wall clock": {
    file: "src/apply/settle-time.ts",
    find: "if (endsOf.get(ledger)?.has(key) !== true) {",
    replace: "if (key !== undefined) {",
    test: "apply/settle.test.ts",
    title: "a wall clock that somebody sets > a day ahead: the settle time ends neither early nor late",
  },
  "a wall clock that was set back holds what is in doubt open": {
    file: "src/apply/settle-time.ts",
    find: "since > clock.now() ? await ledger.noticed(key, since) : since",
    replace: "since",
    test: "apply/settle-orders.test.ts",
    title:
      "a wall clock that was set back while no program was running > lets the settle time go on over several starts of the program",
  },
  "an order that could not be sent again counts as not sent at all": {
    file: "src/apply/deliver.ts",
    find: `if (outcome.kind === "not-sent" && existing !== undefined) {`,
    replace: `if (outcome.kind === "done" && existing !== undefined) {`,
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > stays in doubt when it could not be sent again: nothing else is placed for it",
  },
  "a refusal of the second attempt is believed about the first": {
    file: "src/apply/deliver.ts",
    find: `if (existing !== undefined && operation.kind !== "update-enterprise") {`,
    replace: `if (existing !== undefined && operation.kind === "add-staff") {`,
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > waits for a person when it is refused the second time: the first attempt may have been applied",
  },
  "a part of an order is taken for the whole": {
    file: "src/apply/evidence.ts",
    find: "if (sight.records.every((record) => isWhole(record)))",
    replace: "if (sight.records.some((record) => isWhole(record)))",
    test: "apply/settle-orders.test.ts",
    title: "what proves an order in doubt > is every order record, not one of them",
  },
  "an order counts as shown without one of its numbers": {
    file: "src/apply/evidence.ts",
    find: " && record.numbersSeen === record.numbers",
    replace: "",
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > is not taken for placed when one of its numbers is not shown",
  },
  "an order shown in two licence orders is called good": {
    file: "src/apply/evidence.ts",
    find: "if (sight.repeated.length > 0) {",
    replace: "if (sight.repeated.length > 99) {",
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > that is shown in two licence orders is never called good by itself",
  },
  "another order's product proves an order": {
    file: "src/apply/evidence.ts",
    find: `product.channelOrderId === context.channelOrderId &&
          product.crmProductId !== null`,
    replace: "product.crmProductId !== null",
    test: "apply/settle-orders.test.ts",
    title: "what proves an order in doubt > are not products that another order put into the same assets",
  },
  "M6 is read without E8": {
    file: "src/apply/observe.ts",
    find: "for (const asset of virtual) {",
    replace: "for (const asset of virtual.slice(0, 0)) {",
    test: "apply/settle-orders.test.ts",
    title: "what proves an order in doubt > are its assets where E8 alone shows them",
  },
  "E3 is asked for default customers only": {
    file: "src/apply/observe.ts",
    find: `findCustomers(channelCode, channelCustomerId, "N", {`,
    replace: `findCustomers(channelCode, channelCustomerId, "Y", {`,
    test: "apply/settle.test.ts",
    title: "an enterprise whose answer was lost (E2) > is linked when E3 shows it, with its customers and members",
  },
  "E3 is asked under the first channel code only": {
    file: "src/apply/observe.ts",
    find: "for (const channelCode of channelCodesOf(this.#settings)) {",
    replace: "for (const channelCode of channelCodesOf(this.#settings).slice(0, 1)) {",
    test: "apply/settle-orders.test.ts",
    title: "an enterprise > is looked for under every channel code",
  },
  "an E2 that E3 does not show is made again although E3 never showed one": {
    file: "src/apply/settle.ts",
    find: "if (await ledger.correlationConfirmed(correlationOf(this.#deps.settings)))",
    replace: "if (correlationOf(this.#deps.settings) !== undefined)",
    test: "apply/settle.test.ts",
    title:
      "an enterprise whose answer was lost (E2) > that is not shown waits for a person while no E3 ever showed what an E2 of ours made",
  },
  "the first of two enterprises is taken": {
    file: "src/apply/evidence.ts",
    find: "if (found.length > 1) {",
    replace: "if (found.length > 2) {",
    test: "apply/settle.test.ts",
    title: "an enterprise whose answer was lost (E2) > is left to a person when E3 shows two",
  },
  "members that were there before are taken for added": {
    file: "src/apply/evidence.ts",
    find: "!member.deleted && !before.has(member.globalId)",
    replace: "!member.deleted && before !== undefined",
    test: "apply/settle.test.ts",
    title: "staff whose answer was lost (M1) > are not mistaken for members that were there when the call was made",
  },
  "some of the staff are believed before the enterprise code is known": {
    file: "src/apply/evidence.ts",
    find: "if (knownCode === undefined && added.length > 0 && added.length < people.length) {",
    replace: "if (knownCode === null) {",
    test: "apply/settle.test.ts",
    title:
      "staff whose answer was lost (M1) > that are shown in part before the enterprise code is known wait for a person: they may be other people",
  },
  "an asset that M6 does not show counts as revoked": {
    file: "src/apply/evidence.ts",
    find: "(number) => holder.has(number) && holder.get(number) !== context.memberGlobalId,",
    replace: "(number) => holder.get(number) !== context.memberGlobalId,",
    test: "apply/settle.test.ts",
    title:
      "privileges whose answer was lost (M9) > are not taken for revoked when M6 shows nothing of the asset at all",
  },
  "a person's verdict is taken while the call may still land": {
    file: "src/apply/decide.ts",
    find: `if (kind !== "update-enterprise") await refuseTooEarly(deps, row);`,
    replace: "",
    test: "apply/decide.test.ts",
    title: "an order that a person calls not applied > is refused while it may still land",
  },
  "a person may call not applied what the platform shows": {
    file: "src/apply/decide.ts",
    find: `const { kind } = row.operation;
  if (reading.kind === "applied") {`,
    replace: `const { kind } = row.operation;
  if (reading.kind === "shown") {`,
    test: "apply/decide.test.ts",
    title:
      "an order that a person calls not applied > is refused where the platform shows it: it would be placed twice",
  },
};
