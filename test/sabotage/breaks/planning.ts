import type { Breaks } from "../break.ts";

/** What is planned, in which order, and within which limits. */
export const planning: Breaks = {
  "grants come before revokes": {
    file: "src/operation/operation.ts",
    find: `"staff", "revokes", "grants"`,
    replace: `"staff", "grants", "revokes"`,
    test: "plan/plan.test.ts",
    title: "a customer's plan > goes through the stages in order: enterprise, orders, staff, revokes, grants",
  },
  "an order that changed after it was placed is placed again": {
    file: "src/plan/orders.ts",
    find: "if (placed.bodyHash !== order.bodyHash) {",
    replace: `if (placed.bodyHash !== order.bodyHash) {
      return placement(input, order, settings);`,
    test: "plan/orders.test.ts",
    title: "an order of the CRM > that is placed and whose line changed is a change that is shown and not sent",
  },
  "what is still to be done is done while its customer waits": {
    file: "src/plan/plan.ts",
    find: `outcome === "planned" && !busy.has(formatKey(key))`,
    replace: `outcome === "planned"`,
    test: "plan/enterprise.test.ts",
    title:
      "a customer whose record is not to be worked on > keeps nothing waiting that is as the CRM wants it, and everything that has something left to do",
  },
  "a hold lapses because its customer waits": {
    file: "src/run/customer-attempt.ts",
    find: `plan.waits === true || `,
    replace: "",
    test: "run/decisions.test.ts",
    title:
      "a hold that the CRM has made needless > stays where its customer waits in quarantine, and whoever is looked at again has nothing left to do",
  },
  "two orders share a channel order number": {
    file: "src/plan/orders.ts",
    find: "if (owner !== undefined) {",
    replace: "if (owner === null) {",
    test: "plan/orders.test.ts",
    title: "a channel order number > belongs to one order: the second one waits",
  },
  "an order is placed from its last good form while it waits in quarantine": {
    file: "src/plan/orders.ts",
    find: `.filter((order) => order.state !== "quarantined")`,
    replace: "",
    test: "plan/orders.test.ts",
    title:
      "an order of the CRM > that waits in quarantine is not placed with its last good form, whatever else the customer needs",
  },
  "E2 is planned before E3 was asked": {
    file: "src/plan/enterprise.ts",
    find: "const found = input.observed.enterprises;",
    replace: "const found = input.observed.enterprises ?? [];",
    test: "plan/enterprise.test.ts",
    title: "a customer that E3 does not show > is not created before somebody looked",
  },
  "the first of several enterprises that E3 shows is adopted": {
    file: "src/plan/enterprise.ts",
    find: "if (found.length > 1) {",
    replace: "if (found.length > 9) {",
    test: "plan/enterprise.test.ts",
    title: "a customer that E3 shows > twice, waits for a person, and nothing of it is sent",
  },
  "the orders of an adopted enterprise are not looked at": {
    file: "src/plan/plan.ts",
    find: `link.origin !== "created" &&`,
    replace: `link.origin === "bound" &&`,
    test: "plan/enterprise.test.ts",
    title: "a customer that E3 shows > has its assets read before its first order, unless E2 made it",
  },
  "an account name with its enterprise code is somebody else's": {
    file: "src/plan/staff.ts",
    find: "if (code !== undefined) return suffix === code;",
    replace: "if (code !== undefined) return false;",
    test: "plan/staff.test.ts",
    title:
      "a staff record that the platform shows already > is adopted by its account name with the known enterprise code",
  },
  "whoever's account name goes on is taken for the same person": {
    file: "src/plan/staff.ts",
    find: "if (code !== undefined) return suffix === code;",
    replace: "if (code !== undefined) return true;",
    test: "plan/staff.test.ts",
    title:
      "a staff record that the platform shows already > is told apart from one whose name goes on: ann, anna and annabel",
  },
  "people are added because their list was not read": {
    file: "src/plan/staff.ts",
    find: "const unread = enterpriseGlobalId !== undefined && input.observed.members === undefined;",
    replace: "const unread = false;",
    test: "plan/staff.test.ts",
    title: "a staff record > is not taken for new where the staff list was not read",
  },
  "an account that came with the enterprise is taken over": {
    file: "src/plan/staff.ts",
    find: "if (input.known.protectedMembers.has(hit.globalId)) {",
    replace: "if (hit.globalId === undefined) {",
    test: "plan/staff.test.ts",
    title:
      "a linked staff record > is not taken for an account that came with the enterprise, and is not added beside it",
  },
  "a number is taken from somebody who did not get it from us": {
    file: "src/plan/assignments.ts",
    find: `if (leaving.has(claim.number)) return "grant";`,
    replace: `if (leaving !== undefined) return "grant";`,
    test: "plan/assignments.test.ts",
    title: "what a person should hold > waits where a stranger holds the number: it is not taken from them",
  },
  "an asset that M6 does not show is given up, although M5 shows it": {
    file: "src/plan/assignments.ts",
    find: `if (!shown) return "gone";`,
    replace: `if (shown !== undefined) return "gone";`,
    test: "plan/assignments.test.ts",
    title: "what a person should no longer hold > is not forgotten where M6 shows nothing and M5 still shows it",
  },
  "assets are taken away while a record waits in quarantine": {
    file: "src/plan/assignments.ts",
    find: "if (own > 0) {",
    replace: "if (own < 0) {",
    test: "plan/assignments.test.ts",
    title:
      "what a person should no longer hold > stays while the person's record waits in quarantine, and while another record of the customer does",
  },
  "assets are taken away although the run may take nothing away": {
    file: "src/plan/assignments.ts",
    find: "const stopped = options.revokesBlocked ?? quarantineBlock(input);",
    replace: "const stopped = quarantineBlock(input);",
    test: "plan/assignments.test.ts",
    title: "what a person should no longer hold > stays while the run may take nothing away, with the run's own reason",
  },
  "an order that was cancelled before it was placed is placed": {
    file: "src/plan/orders.ts",
    find: 'if (order.state === "absent" || order.body.cancelled) return "nothing-to-do";',
    replace: 'if (order.state === "absent") return "nothing-to-do";',
    test: "plan/orders.test.ts",
    title: "an order of the CRM > that was never placed and is cancelled or gone leaves nothing to do",
  },
  "an order that is gone from the CRM is placed": {
    file: "src/plan/orders.ts",
    find: 'if (order.state === "absent" || order.body.cancelled) return "nothing-to-do";',
    replace: 'if (order.body.cancelled) return "nothing-to-do";',
    test: "plan/orders.test.ts",
    title: "an order of the CRM > that was never placed and is cancelled or gone leaves nothing to do",
  },
  "an order goes out although a setting that it needs has no value": {
    file: "src/plan/orders.ts",
    find: "if (missing !== undefined) {",
    replace: "if (missing === null) {",
    test: "plan/order-records.test.ts",
    title:
      "an order that needs an answer nobody gave yet > waits, and names assumptions.channelCode, row A9 and the choices",
  },
  "the first of several customers of an enterprise takes an order": {
    file: "src/plan/orders.ts",
    find: "if (selection !== undefined) return selection;",
    replace: "",
    test: "plan/order-records.test.ts",
    title: "the customer of an order record > is exactly one, or the order is blocked with the number of hits",
  },
  "the first of two members that fit an account name is adopted": {
    file: "src/plan/staff.ts",
    find: "if (hits.length > 1) {",
    replace: "if (hits.length > 9) {",
    test: "plan/staff.test.ts",
    title: "a staff record that the platform shows already > twice, bare and with the code, waits for a person",
  },
  "deleted members are taken for members": {
    file: "src/plan/staff.ts",
    find: "(input.observed.members ?? []).filter((member) => !member.deleted)",
    replace: "(input.observed.members ?? [])",
    test: "plan/staff.test.ts",
    title: "a staff record that the platform shows already > as a deleted row only, is absent there and is added",
  },
  "an assignment is given up because nobody read who holds what": {
    file: "src/plan/assignments.ts",
    find: "if (holders === undefined || members === undefined) return notRead;",
    replace: 'if (holders === undefined || members === undefined) return "gone";',
    test: "plan/assignments.test.ts",
    title: "what a person should no longer hold > stays while it was not read who holds what, and is looked at again",
  },
  "what a person in quarantine holds is taken away": {
    file: "src/plan/assignments.ts",
    find: 'if (states.get(key) === "quarantined" || allocation.waiting.has(key)) continue;',
    replace: "if (allocation.waiting.has(key)) continue;",
    test: "plan/assignments.test.ts",
    title:
      "what a person should no longer hold > stays while the person's record waits in quarantine, and while another record of the customer does",
  },
  "a limit's floor is one too high": {
    file: "src/plan/limits.ts",
    find: "return Math.max(limit.floor,",
    replace: "return Math.max(limit.floor + 1,",
    test: "plan/limits.test.ts",
    title:
      "the limit of one enterprise: 5, or 5 % of what is assigned there > of 100 assignments, 6 taken away: released false",
  },
  "a limit is one too low": {
    file: "src/plan/limits.ts",
    find: "if (item.count > allowed) {",
    replace: "if (item.count >= allowed) {",
    test: "plan/limits.test.ts",
    title:
      "the limit of one enterprise: 5, or 5 % of what is assigned there > of 100 assignments, 5 taken away: released true",
  },
  "limits are judged for each enterprise alone": {
    file: "src/plan/limits.ts",
    find: "if (sum > allowedInRun) {",
    replace: "if (item.count > allowedInRun) {",
    test: "plan/limits.test.ts",
    title:
      "the limit of one run: 20, or 1 % of all that is assigned > is exact at 19, 20 and 21, and then holds all of them, each for the sum",
  },
  "what an enterprise's own limit holds does not count for the run": {
    file: "src/plan/limits.ts",
    find: "const counted = items.filter((item) => !item.approved);",
    replace:
      "const counted = items.filter((item) => !item.approved && item.count <= allowedBy(limits.enterprise, item.live));",
    test: "plan/limits.test.ts",
    title:
      "the limit of one run: 20, or 1 % of all that is assigned > counts what an enterprise's own limit holds too: a mass deletion in one place lets nothing through elsewhere",
  },
  "a grant goes on while the revoke that it needs is held": {
    file: "src/plan/limits.ts",
    find: "held.has(number)",
    replace: "held.has(number.repeat(2))",
    test: "plan/limits.test.ts",
    title:
      "while revokes are held > they stay, and with them the grants that need them, named by number or by slot; the rest goes on",
  },
  "a payload goes out with a gap where a value is missing": {
    file: "src/plan/bind.ts",
    find: "return missing.length === 0 ?",
    replace: "return missing.length >= 0 ?",
    test: "plan/bind.test.ts",
    title: "binding a payload > names everything that is missing, and gives no payload at all",
  },
  "a plan that was approved for one state is carried out in another": {
    file: "src/operation/new-operation.ts",
    find: `payload: fields.payload,
    before: fields.before,`,
    replace: "payload: fields.payload,",
    test: "plan/plan.test.ts",
    title:
      "a customer's plan > has another hash where it starts from something else: what was approved once is not approved for another state",
  },
};
