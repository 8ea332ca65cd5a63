import type { Breaks } from "../break.ts";

const plan = "plan/staff.test.ts";
const reset = "scenarios/life/reset-password.test.ts";
const left = "scenarios/life/left-person.test.ts";
const handedOut = "scenarios/life/handed-out.test.ts";
const renamed = "scenarios/life/renamed-person.test.ts";

/** What is done of the accounts of people who are there: edits, passwords, and who leaves. */
export const lifeOfStaff: Breaks = {
  "an account that M5 shows under another name is edited": {
    file: "src/plan/staff-profile.ts",
    within: "whyNotSent",
    find: "if (!isAccountOf($member, $login, $code)) {",
    replace: "if (!isAccountOf($member, $login, $code) && $login === undefined) {",
    test: renamed,
    title: "an account that is another person's on the platform by now is not edited, and the others are",
  },
  "an account with any ending is taken for the person's": {
    file: "src/operation/shown-profile.ts",
    within: "isAccountOf",
    find: "return $code.known === undefined ?",
    replace: "return $code.known !== null ?",
    test: plan,
    title:
      "a linked staff record > is not edited where M5 shows the member under another account name, or under another ending",
  },
  "an edit goes out under the account name that the CRM gives now": {
    file: "src/plan/staff-profile.ts",
    within: "loginOf",
    find: "($link.login ?? $userName)",
    replace: "($userName ?? $link.login)",
    test: "scenarios/life/changed-login.test.ts",
    title: "a login that changes is refused with the reason, and the person's other fields and everybody else go on",
  },
  "what only the platform has is left out of an edit": {
    file: "src/plan/staff-profile.ts",
    within: "whyNotSent",
    find: `if ($settings.leftOutStaffFields === "kept") return undefined;`,
    replace: `if ($settings.leftOutStaffFields !== undefined) return undefined;`,
    test: renamed,
    title: "what only the platform has of somebody is not cleared by an edit of their name: it waits for a person",
  },
  "an edit that M5 shows otherwise counts as agreed": {
    file: "src/plan/staff-profile.ts",
    within: "planProfile",
    find: "if ($otherwise.length > 0) return { note:",
    replace: "if ($otherwise.length > 4) return { note:",
    test: renamed,
    title: "an edit that the platform took and shows otherwise is told of, and not sent a second time",
  },
  "adopted accounts are deleted": {
    file: "src/plan/leavers.ts",
    within: "leavingOf",
    find: `$link.origin === "created" &&`,
    replace: `$link.origin !== undefined &&`,
    test: left,
    title: "an account that was adopted is never deleted, whatever the policy says",
  },
  "an account is deleted with what others gave it": {
    file: "src/plan/leavers.ts",
    within: "whyKept",
    find: "if ($held.size > 0)",
    replace: "if ($held.size > 100)",
    test: left,
    title: "who holds something that we did not give, or has a lock that is lent, keeps the account until that is over",
  },
  "an account that is another person's by now is deleted": {
    file: "src/plan/leavers.ts",
    within: "whyKept",
    find: "!isAccountOf($member, $login, $code)",
    replace: "!isAccountOf($member, $member.userName ?? $login, $code)",
    test: left,
    title: "an account that somebody else deleted is gone, and one that is another person's by now is left alone",
  },
  "M4's word that there is no such member is believed": {
    file: "src/operation/delete-staff.ts",
    within: "deleteStaff",
    find: `$outcome.kind === "already"`,
    replace: `$outcome.kind === "rejected"`,
    test: left,
    title:
      "a lost answer of a deletion is settled by M5, and M4's own word that there is none is not believed without it",
  },
  "a person who moved is no member of the old customer any more": {
    file: "src/ledger/state/staff-links.ts",
    within: "prepareStatements",
    find: `update staff_link set to_at = ? where namespace = +? and staff_id = +? and to_at is null
         and customer_namespace = +? and customer_id = +?`,
    replace: `update staff_link set to_at = ? where namespace = +? and staff_id = +? and to_at is null
         and ? is not ?`,
    test: "scenarios/life/moved-person.test.ts",
    title: "who moves to another customer gets an account there, and the old one is deleted where the policy says so",
  },
  "a lost M3 is sent again": {
    file: "src/apply/settle-by-kind.ts",
    within: "settleWithoutReading",
    find: `if ($whenUnknown === "ask")`,
    replace: `if ($whenUnknown === "lost")`,
    test: reset,
    title:
      "a reset whose answer is lost and that was set waits for a person, is never sent again, and keeps no other customer waiting",
  },
  "a reset that a person called not applied stays asked for": {
    file: "src/operation/reset-password.ts",
    within: "resetPassword",
    find: "about: formatKey($context.staff) },",
    replace: "about: $context.memberGlobalId },",
    test: reset,
    title:
      "a reset whose answer is lost and that was not set waits for a person, is never sent again, and keeps no other customer waiting",
  },
  "a password in doubt is handed out": {
    file: "src/app/staff-password.ts",
    within: "setAnew",
    never: "open",
    test: reset,
    title:
      "a reset whose answer is lost and that was set waits for a person, is never sent again, and keeps no other customer waiting",
  },
  "the password that was sealed last is handed out, whether it was set or not": {
    file: "src/app/staff-password.ts",
    within: "handOut",
    find: "(await setAnew($ledger, $account, $link.memberGlobalId)) ?? (await initial($ledger, $account))",
    replace: "(await initial($ledger, $account)) ?? $link.memberGlobalId",
    test: reset,
    title: "a new password is set for one person by one M3, handed out once, and nobody else's changes",
  },
  "a password is set for an account that is another person's": {
    file: "src/app/reset-password.ts",
    within: "requireAccount",
    find: "isAccountOf($member, $login,",
    replace: "isAccountOf($member, $member.userName ?? $login,",
    test: reset,
    title:
      "nothing is asked for of somebody without an account, of one that M5 does not show, or shows under another name",
  },
  "an account that another record of the CRM has goes with the record that is gone": {
    file: "src/plan/leavers.ts",
    within: "whyKept",
    find: "const $user = userOf($given, $member, $code);",
    replace: "const $user = undefined;",
    test: left,
    title: "an account that another record of the CRM has is not deleted with the record that is gone",
  },
  "what is sealed for a person's other account goes with the one that is deleted": {
    file: "src/operation/sealed-passwords.ts",
    within: "initialPasswordRef",
    find: "${formatKey($staff)} at ${formatKey($customer)}",
    replace: "${formatKey($staff)} at ${formatKey($customer).slice(0, 1)}",
    test: handedOut,
    title: "the new password of who moved from C1 to C2 is not lost with the old account",
  },
  "the account that a person has had last is taken for the one at their customer": {
    file: "src/ledger/state/staff-links.ts",
    within: "prepareStatements",
    find: "order by r.id is null, l.from_at desc limit 1",
    replace: "order by l.from_at desc limit 1",
    test: handedOut,
    title:
      "who moved away and came back has the account of before: its password is not handed out again, and can be set anew",
  },
  "two who ask at once are handed out the same password": {
    file: "src/app/staff-password.ts",
    within: "handOutPassword",
    find: "await $ledger.private.alone(async () => await handOut($ledger, $staff, $by, $show))",
    replace: "await handOut($ledger, $staff, $by, $show)",
    test: handedOut,
    title: "a password is handed out to one of two people who ask at the same time, and to nobody afterwards",
  },
  "what stands in another enterprise is taken for what stands here": {
    file: "src/ledger/state/known.ts",
    within: "KnownTables.#here",
    find: "if ($accounts.size + $numbers.size === 0) return $known;",
    replace: "if ($accounts.size + $numbers.size >= 0) return $known;",
    test: "scenarios/life/link.test.ts",
    title: "what stands in one enterprise is not taken for what stands in another that the customer is linked with",
  },
  "who comes back over and over is never asked about": {
    file: "src/ledger/records/record-statements.ts",
    within: "recordStatements",
    find: "flips = flips + (state = 'absent'), changed_run",
    replace: "changed_run",
    test: left,
    title:
      "a person whom the CRM takes away and gives back over and over waits for a person in the end, and nobody else",
  },
  "a password that was used is not given anew with who comes back": {
    file: "src/ledger/records/record-tables.ts",
    within: "RecordTables.ingest",
    find: 'if ($existing.state === "absent") this.#sealAgain(',
    replace: 'if ($existing.state === "nowhere") this.#sealAgain(',
    test: left,
    title: "who comes back gets an account with the password that the CRM gives, although it was used and wiped before",
  },
};
