import type { Breaks } from "../break.ts";

/** The audit record: its Merkle tree, what it is verified by, and the places outside that keep its head. */
export const audit: Breaks = {
  "an entry that was changed counts as whole": {
    file: "src/ledger/audit/verify-log.ts",
    within: "Walk.#wrongWith",
    find: "const $isWhole = auditHash($row) === $row.hash;",
    replace: 'const $isWhole = $row.hash !== "";',
    test: "ledger/audit.test.ts",
    title: "verifying > finds tampering in the file itself, past the guards",
  },
  "an entry may follow any other one": {
    file: "src/ledger/audit/verify-log.ts",
    within: "Walk.#wrongWith",
    find: "if ($isLinked && $isWhole) return undefined;",
    replace: "if ($isWhole) return undefined;",
    test: "ledger/audit.test.ts",
    title: "verifying > finds a thousand random tamperings and names the first bad entry, and raises no false alarm",
  },
  "what the head outside names and the record lacks is not missed": {
    file: "src/ledger/audit/verify-log.ts",
    within: "completenessOf",
    always: "longest",

    test: "ledger/audit.test.ts",
    title: "verifying > finds a cut up to the last kept head, and says what a cut after it means: nothing",
  },
  "the subtrees that the ledger keeps are not compared with the entries": {
    file: "src/ledger/audit/verify-log.ts",
    within: "treeFinding",
    find: "JSON.stringify($leaves.roots) && isSame($tiles, $own)",
    replace: "JSON.stringify($leaves.roots)",
    test: "ledger/audit.test.ts",
    title: "verifying > finds a tree that is not the one of the entries: a subtree",
  },
  "a guard of the tables counts by its name": {
    file: "src/ledger/audit/kept-tree.ts",
    within: "schemaOf",
    find: "!$found.has(bare(`create ${$word}${$statement}`))",
    replace: '![...$found].some((one) => one.startsWith(bare(`create ${$word}${$statement.split(" ", 1)[0]}`)))',
    test: "audit/forged.test.ts",
    title: "a database that somebody can write to > is found out: a guard that does nothing",
  },
  "what somebody added to the audit tables counts as made with them": {
    file: "src/ledger/audit/kept-tree.ts",
    within: "keptOf",
    find: "const { guardsMissing = [], schemaChanged = [] } = schemaOf($database);",
    replace: "const { guardsMissing = [] } = schemaOf($database), schemaChanged: string[] = [];",
    test: "audit/attacked.test.ts",
    title: "a ledger whose tables are others > is found out: a trigger that swallows entries",
  },
  "the audit tree may be made another one of the same size": {
    file: "migrations/0029_audit_tree.ts",
    within: "statements",
    find: "when new.size <= old.size `",
    replace: "when new.size < old.size `",
    test: "ledger/audit.test.ts",
    title: "the table of audit entries > refuses update audit_tree set roots = '[]'",
  },
  "the audit tree grows after the entries are committed": {
    file: "src/ledger/context.ts",
    within: "LedgerContext.constructor",
    find: 'const $head = this.audit.grow() ?? { sequence: 0, hash: "" }; return () => {',
    replace: 'return () => { const $head = this.audit.grow() ?? { sequence: 0, hash: "" };',
    test: "ledger/audit.test.ts",
    title: "appending > commits no entry without the tree that has grown with it, whose root is in the head",
  },
  "an entry's hash leaves out its salt": {
    file: "src/ledger/audit/audit-log.ts",
    within: "auditText",
    find: "[$form, $sequence, $at, $kind, $subject, $body, $previous, $salt]",
    replace: "[$form, $sequence, $at, $kind, $subject, $body, $previous]",
    test: "ledger/audit.test.ts",
    title: "verifying > finds tampering in the file itself, past the guards",
  },
  "an entry may be there again": {
    file: "src/ledger/audit/verify-log.ts",
    within: "Walk.#wrongWith",
    find: "$row.sequence < $expected",
    replace: "$row.sequence < $expected - 1",
    test: "audit/attacked.test.ts",
    title: "entries that stand where none of theirs may > are named: one that is there again",
  },
  "an entry may be missing": {
    file: "src/ledger/audit/verify-log.ts",
    within: "Walk.#wrongWith",
    find: "$row.sequence > $expected",
    replace: "$row.sequence > $expected + 100",
    test: "audit/record.test.ts",
    title:
      "a ledger that somebody has the file of > names by its own word what was done to it, with the first entry that is wrong",
  },
  "an entry of the form before may follow one of the tree": {
    file: "src/ledger/audit/verify-log.ts",
    within: "Walk.#wrongWith",
    find: "$row.format < this.#format ||",
    replace: "",
    test: "audit/attacked.test.ts",
    title: "entries that stand where none of theirs may > are named: one of the form before behind one of the tree",
  },
  "heads that contradict each other count as heads of a record that was written anew": {
    file: "src/ledger/audit/verify-log.ts",
    within: "Walk.finding",
    always: "#lastFitting",
    test: "audit/record.test.ts",
    title:
      "a ledger that somebody has the file of > names by its own word what was done to it, with the first entry that is wrong",
  },
  "a record to which nothing was added for long is fresh": {
    file: "src/app/audit-record.ts",
    within: "freshnessOf",
    never: "durationMs",

    test: "audit/record.test.ts",
    title:
      "a ledger that somebody has the file of > is stale where nothing was recorded for longer than is asked for, and whole all the same",
  },
  "a head from elsewhere counts without the signature of its key": {
    file: "src/app/audit-record.ts",
    within: "isWhole",
    find: "$isSigned && $note.sequence",
    replace: "$note.sequence",
    test: "audit/record.test.ts",
    title:
      "a head that is signed > is checked by its verifier key alone, and one that somebody changed counts for nothing",
  },
  "a line of the file of heads that somebody changed is passed over": {
    file: "src/app/audit-record.ts",
    within: "spoiledIn",
    always: "line",
    test: "audit/attacked.test.ts",
    title:
      "a file of heads beside the ledger > that somebody changed is named, and one that a crash cut off, or left zeros in, is not",
  },
  "a record of which no head is kept is as good as one with heads": {
    file: "src/cli/commands/audit.ts",
    within: "auditVerifyCommand",
    never: "isUnproven",
    test: "audit/attacked.test.ts",
    title:
      "a file of heads beside the ledger > that somebody changed is named, and one that a crash cut off, or left zeros in, is not",
  },
  "nobody is told of a place that does not get the head of the record": {
    file: "src/run/alerts.ts",
    within: "alertsOf",
    find: "$alerts.push(...placeAlerts($ledger));",
    replace: "",
    test: "audit/places.test.ts",
    title: "a folder that is not there, and a key that cannot sign, stop nothing and are told",
  },
  "a proof of one order shows the entries of all": {
    file: "src/inquiry/audit.ts",
    within: "auditProof",
    find: '.where("subject", "=", subject)',
    replace: "",
    test: "audit/record.test.ts",
    title:
      "a proof > holds the entries about one order and nothing of another, and is checked against a head that was kept",
  },
};
