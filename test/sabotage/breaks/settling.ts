import type { Breaks } from "../break.ts";

/** What becomes of an operation whose outcome is unknown. */
export const settling: Breaks = {
  "the settle time is skipped": {
    file: "src/apply/settle.ts",
    find: "if (left > 0 || (shown === undefined && readings.length < settle.readings)) {",
    replace: "if (shown === undefined && readings.length < settle.readings) {",
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > is parked for a person only after three unseen readings and the settle time, never before",
  },
  "one unseen reading is enough": {
    file: "src/apply/settle.ts",
    find: "if (left > 0 || (shown === undefined && readings.length < settle.readings)) {",
    replace: "if (left > 0) {",
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > counts three readings also when the settle time is over long since",
  },
  "readings of an earlier run are forgotten": {
    file: "src/apply/settle.ts",
    find: `await ledger.journal.noteEvidence(row.id, evidence);
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
    file: "src/operation/place-order.ts",
    find: `if (facts.ordersUnseen !== "resend") {`,
    replace: "if (facts.ordersUnseen === undefined) {",
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > is parked for a person only after three unseen readings and the settle time, never before",
  },
  "an order that is not shown counts as not applied": {
    file: "src/apply/settle.ts",
    find: `    switch (next.kind) {
`,
    replace: `    if (kind.endpoint === "E5") return await this.#drop(row, evidence, []);
    switch (next.kind) {
`,
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > counts three readings also when the settle time is over long since",
  },
  "an order whose answer was lost is sent again without a look": {
    file: "src/apply/settle.ts",
    find: `if (kind.whenUnknown === "send-again") {`,
    replace: `if (kind.whenUnknown === "send-again" || kind.endpoint === "E5") {`,
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > is done at the first reading that shows it, with the licence orders that M7 names",
  },
  "a cancelled order in doubt is sent again": {
    file: "src/operation/place-order.ts",
    find: `return same ? "the same" : "gone";`,
    replace: `return "the same";`,
    test: "apply/settle-orders.test.ts",
    title: "an order in doubt that the CRM no longer wants as it was > cancelled: it is not sent again",
  },
  "the settle time of now counts for what came into doubt under a longer one": {
    file: "src/apply/settle-time.ts",
    find: "Math.max(deps.settle.timeMs, promised)",
    replace: "deps.settle.timeMs",
    test: "apply/evidence.test.ts",
    title:
      "settings that were changed while operations were in doubt > the settle time was shortened: what was promised then still stands",
  },
  "the settle time is looked at after the reading": {
    file: "src/apply/settle.ts",
    find: "return await this.#notFound(row, reading, left, runId, signal);",
    replace: "return await this.#notFound(row, reading, await settleTimeLeftOf(this.#deps, row), runId, signal);",
    test: "apply/evidence.test.ts",
    title: "a reading that takes long > counts as of when it began: what landed meanwhile is not called unseen",
  },
  "what was shown once is called unseen later": {
    file: "src/apply/settle.ts",
    find: "const shown = readings.find((item) => item.seen);",
    replace: "const shown = readings.find(() => false);",
    test: "apply/evidence.test.ts",
    title:
      "readings that disagree with one another > an order that was shown in part once is never sent again, whatever is shown later",
  },
  "an order whose own asset numbers are shown counts as unseen": {
    file: "src/operation/place-order.ts",
    find: "sight.shown.find((number) => !given.has(number));",
    replace: "sight.shown.find((number) => !given.has(number) && sight.bare.splice(0).length < 0);",
    test: "apply/evidence.test.ts",
    title:
      "readings that disagree with one another > an order whose own asset numbers are shown is not unseen, also where their products are not",
  },
  "an asset that M5 still shows with a member counts as revoked": {
    file: "src/operation/configure-assets.ts",
    find: "member?.assetNums.includes(number) !== true,",
    replace: "true,",
    test: "apply/evidence.test.ts",
    title:
      "readings that disagree with one another > M5 still shows what M6 no longer does: nothing is called taken away",
  },
  "an order of a licence type that is never shown is sent again": {
    file: "src/operation/place-order.ts",
    find: "if (await facts.isShown(licenseType)) continue;",
    replace: "if (licenseType !== undefined) continue;",
    test: "apply/evidence.test.ts",
    title:
      "licence types that the platform may not show (A43) > are never called unseen where the settings do not name them",
  },
  "an order of a licence type that is never shown counts as not placed once the CRM has changed it": {
    file: "src/operation/place-order.ts",
    find: "if (await facts.isShown(licenseType)) continue;",
    replace: `if ((await facts.isShown(licenseType)) || (await wishOf(entry, facts)) === "gone") continue;`,
    test: "apply/evidence.test.ts",
    title:
      "licence types that the platform may not show (A43) > are not called unseen either where the CRM has changed the order since: the new one is not placed beside it",
  },
  "the reading that showed something of an order makes room for newer ones": {
    file: "src/apply/settle.ts",
    find: "...(shown === undefined ? [] : [shown]), ",
    replace: "",
    test: "apply/evidence.test.ts",
    title:
      "readings that disagree with one another > an order that was shown in part once is never sent again, however many readings show nothing of it within the settle time",
  },
  "the readings that a resend rests on are counted for it again": {
    file: "src/apply/settle.ts",
    find: "filter((item) => item.attempts === row.attempts)",
    replace: "filter((item) => item.attempts !== undefined)",
    test: "apply/evidence.test.ts",
    title:
      "what is kept of the readings > those on which it was sent again are not counted when that did not leave: it is read anew",
  },
  "the settle time is counted on the wall clock": {
    file: "src/apply/settle-time.ts",
    find: "if (endsOf.get(ledger)?.has(key) !== true) {",
    replace: "if (key !== undefined) {",
    test: "apply/settle-orders.test.ts",
    title: "the settle time of an order in doubt > ends in a program whose clock was set ahead after its start",
  },
  "a wall clock that was set back holds what is in doubt open": {
    file: "src/apply/settle-time.ts",
    find: "since > clock.now() ? await ledger.journal.countedFrom(key, since) : since",
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
    find: `existing !== undefined && kindOf(operation).whenUnknown !== "send-again"`,
    replace: `existing !== undefined && operation.endpoint === "M1"`,
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > waits for a person when it is refused the second time: the first attempt may have been applied",
  },
  "a part of an order is taken for the whole": {
    file: "src/operation/place-order.ts",
    find: "if (sight.records.every((record) => isWhole(record)))",
    replace: "if (sight.records.some((record) => isWhole(record)))",
    test: "apply/settle-orders.test.ts",
    title: "what proves an order in doubt > is every order record, not one of them",
  },
  "an order counts as shown without one of its numbers": {
    file: "src/operation/order-sight.ts",
    find: " && record.numbersSeen === record.numbers",
    replace: "",
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > is not taken for placed when one of its numbers is not shown",
  },
  "an order shown in two licence orders is called good": {
    file: "src/operation/place-order.ts",
    find: "if (sight.repeated.length > 0) {",
    replace: "if (sight.repeated.length > 99) {",
    test: "apply/settle.test.ts",
    title: "an order whose answer was lost (E5) > that is shown in two licence orders is never called good by itself",
  },
  "another order's product proves an order": {
    file: "src/operation/order-sight.ts",
    find: `product.channelOrderId === context.channelOrderId &&
          product.crmProductId !== null`,
    replace: "product.crmProductId !== null",
    test: "apply/settle-orders.test.ts",
    title: "what proves an order in doubt > are not products that another order put into the same assets",
  },
  "M6 is read without E8": {
    file: "src/platform/snapshot.ts",
    find: "for (const asset of virtual) {",
    replace: "for (const asset of virtual.slice(0, 0)) {",
    test: "apply/settle-orders.test.ts",
    title: "what proves an order in doubt > are its assets where E8 alone shows them",
  },
  "E3 is asked for default customers only": {
    file: "src/platform/snapshot.ts",
    find: `findCustomers(channelCode, channelCustomerId, "N", {`,
    replace: `findCustomers(channelCode, channelCustomerId, "Y", {`,
    test: "apply/settle.test.ts",
    title: "an enterprise whose answer was lost (E2) > is linked when E3 shows it, with its customers and members",
  },
  "E3 is asked under the first channel code only": {
    file: "src/platform/snapshot.ts",
    find: "for (const channelCode of new Set([...channelCodesOf(this.#settings), ...alsoUnder])) {",
    replace: "for (const channelCode of channelCodesOf(this.#settings).slice(0, 1)) {",
    test: "apply/settle-orders.test.ts",
    title: "an enterprise > is looked for under every channel code",
  },
  "an E2 that E3 does not show is made again although E3 never showed one": {
    file: "src/operation/enterprise.ts",
    find: "if (await facts.correlationConfirmed(enterpriseContext.parse(entry.context).correlation))",
    replace: "if (enterpriseContext.parse(entry.context).correlation !== undefined)",
    test: "apply/settle.test.ts",
    title:
      "an enterprise whose answer was lost (E2) > that is not shown waits for a person while no E3 ever showed what an E2 of ours made",
  },
  "the settle time is over with the next start of the program": {
    file: "src/apply/settle-time.ts",
    find: "Math.max(0, counted + timeMs - ledger.journal.surelyNow)",
    replace: "0",
    test: "apply/settle-orders.test.ts",
    title: "the settle time of an order in doubt > goes on where the program is started anew",
  },
  "a clock set ahead ends the settle time in a program that was just started": {
    file: "src/apply/settle-time.ts",
    find: "timeMs - ledger.journal.surelyNow",
    replace: "timeMs - clock.now()",
    test: "apply/settle-orders.test.ts",
    title:
      "the settle time of an order in doubt > is not over where a program that was just started sees its clock set ahead before its first look",
  },
  "the settle time begins with the first look": {
    file: "src/apply/deliver.ts",
    find: "settleTimeBegins(deps, id, operation.subject);",
    replace: "",
    test: "apply/settle-orders.test.ts",
    title: "the settle time of an order in doubt > ends in a program whose clock was set ahead after its start",
  },
  "what E3 showed under other templates is believed for these": {
    file: "src/operation/enterprise.ts",
    find: "`${settings.crmCustomerIdTemplate} ",
    replace: "`",
    test: "apply/settle-orders.test.ts",
    title: "an enterprise > that E3 showed under other templates says nothing about these: a person is asked (A8)",
  },
  "the first of two enterprises is taken": {
    file: "src/operation/enterprise.ts",
    find: "if (found.length > 1) {",
    replace: "if (found.length > 2) {",
    test: "apply/settle.test.ts",
    title: "an enterprise whose answer was lost (E2) > is left to a person when E3 shows two",
  },
  "members that were there before are taken for added": {
    file: "src/operation/add-staff.ts",
    find: "!member.deleted && !before.has(member.globalId)",
    replace: "!member.deleted && before !== undefined",
    test: "apply/settle.test.ts",
    title: "staff whose answer was lost (M1) > are not mistaken for members that were there when the call was made",
  },
  "some of the staff are believed before the enterprise code is known": {
    file: "src/operation/add-staff.ts",
    find: "if (knownCode === undefined && added.length > 0 && added.length < people.length) {",
    replace: "if (knownCode === null) {",
    test: "apply/settle.test.ts",
    title:
      "staff whose answer was lost (M1) > that are shown in part before the enterprise code is known wait for a person: they may be other people",
  },
  "an asset that M6 does not show counts as revoked": {
    file: "src/operation/configure-assets.ts",
    find: `holder.has(number) &&
      holder.get(number) !== context.memberGlobalId &&`,
    replace: "holder.get(number) !== context.memberGlobalId &&",
    test: "apply/settle.test.ts",
    title:
      "privileges whose answer was lost (M9) > are not taken for revoked when M6 shows nothing of the asset at all",
  },
  "a person's verdict is taken while the call may still land": {
    file: "src/apply/decide.ts",
    find: `if (whenUnknown !== "send-again") refuseTooEarly(deps, row, left);`,
    replace: "",
    test: "apply/decide.test.ts",
    title: "an order that a person calls not applied > is refused while it may still land",
  },
  "a person may call not applied what the platform shows": {
    file: "src/apply/decide.ts",
    find: `const { cureOfPart, whenUnknown } = kindOf(row.operation);
  if (evidence.kind === "confirmed") {`,
    replace: `const { cureOfPart, whenUnknown } = kindOf(row.operation);
  if (evidence.detail === undefined) {`,
    test: "apply/decide.test.ts",
    title:
      "an order that a person calls not applied > is refused where the platform shows it: it would be placed twice",
  },
};
