import type { Breaks } from "../break.ts";

/** What the ledger keeps: records, private values, the chain, the lock. */
export const keeping: Breaks = {
  "an entry's hash leaves out the one before it": {
    file: "src/ledger/audit/audit-log.ts",
    find: "row.subject, row.body, row.previous]));",
    replace: "row.subject, row.body]));",
    test: "ledger/audit.test.ts",
    title:
      "verifying > finds an entry that was changed with its hash and the link of the entry after it: that one's own hash holds the link",
  },
  "an entry's hash leaves out when it was written": {
    file: "src/ledger/audit/audit-log.ts",
    find: "[row.format, row.sequence, row.at,",
    replace: "[row.format, row.sequence,",
    test: "ledger/audit.test.ts",
    title: "verifying > finds tampering in the file itself, past the guards",
  },
  "the head of the chain is remembered": {
    file: "src/ledger/audit/audit-log.ts",
    find: "const head = this.#head.get();",
    replace: "const head = (this.last ??= this.#head.get());",
    test: "ledger/audit.test.ts",
    title: "verifying > walks the chain in the order of writing, across connections that wrote in turns",
  },
  "verifying does not look at the heads that were kept": {
    file: "src/ledger/audit/audit-log.ts",
    find: "for (const { sequence, hash } of keptHeads)",
    replace: "for (const { sequence, hash } of keptHeads.slice(0, 0))",
    test: "ledger/audit.test.ts",
    title: "verifying > finds a chain that was written anew from some entry on, by the heads that were kept",
  },
  "a run begins on an older copy of the ledger": {
    file: "src/ledger/audit/audit-heads.ts",
    find: "if (chained && commits >= last.commit) return;",
    replace: "if (commits >= 0) return;",
    test: "ledger/damage.test.ts",
    title:
      "a file that is not a usable ledger is refused by name, and not touched > makes no run on an older copy that was put back, for it would do again what the copy does not know",
  },
  "what an older copy lacks is looked for in the audit chain alone": {
    file: "src/ledger/audit/audit-heads.ts",
    find: "if (chained && commits >= last.commit) return;",
    replace: "if (chained) return;",
    test: "ledger/damage.test.ts",
    title:
      "a file that is not a usable ledger is refused by name, and not touched > makes no run on an older copy that was put back, for it would do again what the copy does not know",
  },
  "calls leave although what the ledger committed is not kept outside it": {
    file: "src/ledger/database/writer.ts",
    find: "      keep();",
    replace: "",
    test: "ledger/damage.test.ts",
    title: "heads kept outside > end the writing when they cannot be kept: nothing is sent on what only the ledger has",
  },
  "each batch of a reading looks through its whole stream": {
    file: "src/ledger/records/record-statements.ts",
    find: "`update record indexed by record_by_hash set",
    replace: "`update record set",
    test: "inquiry/query-plans.test.ts",
    title: "no statement looks through what is finished, but for those that are named with a reason",
  },
  "customers with something to do are looked for among finished operations": {
    file: "src/ledger/records/work.ts",
    find: "         union\n         select customer_namespace, customer_id from operation where state in ('sending', 'unknown', 'planned')",
    replace:
      "         union\n         select customer_namespace, customer_id from operation where state in ('planned', 'sending', 'unknown')",
    test: "inquiry/query-plans.test.ts",
    title: "no statement looks through what is finished, but for those that are named with a reason",
  },
  "the run lock is not taken": {
    file: "src/ledger/database/lock.ts",
    find: `side.exec("begin exclusive");`,
    replace: "",
    test: "ledger/lock.test.ts",
    title: "the run lock > refuses a second ledger of the same process",
  },
  "a run goes on after another one took the ledger over": {
    file: "src/ledger/context.ts",
    find: "readEpoch(this.database) === this.#lock.epoch",
    replace: "readEpoch(this.database) > 0",
    test: "ledger/lock.test.ts",
    title: "the run lock > stops an owner that was paused while another took over: it writes nothing more",
  },
  "a sealed value is bound to nothing": {
    file: "src/ledger/private/private.ts",
    find: `JSON.stringify(["crm-sync sealed value", ref, version])`,
    replace: `JSON.stringify(["crm-sync sealed value", ref.length > 0, version > 0])`,
    test: "ledger/private.test.ts",
    title: "passwords > open for the record that they were sealed for only, in the ledger that they were sealed in",
  },
  "what the program writes is as open as the shell lets it be": {
    file: "src/base/private-files.ts",
    find: "const ownerFile = 0o600;",
    replace: "const ownerFile = 0o644;",
    test: "base/private-files.test.ts",
    title: "a private file > is made for its owner alone, and one that is there is left as it is",
  },
  "reads that absence is judged by are thinned with the others": {
    file: "src/ledger/runs/retention.ts",
    find: "isNeeded(Number(number), String(source), String(stream)) ? 0 : drop.run(number).changes",
    replace: "drop.run(number).changes",
    test: "cli/retention.test.ts",
    title: "history that is older than it is kept goes, and nothing that a promise or a report needs; it is said once",
  },
  "the ledger's file is opened and closed by hand": {
    file: "src/ledger/database/database.ts",
    find: "  requireLedgerFile(path);",
    replace: `  const fs = process.getBuiltinModule("node:fs");
  fs.closeSync(fs.openSync(path, "r"));
  requireLedgerFile(path);`,
    test: "cli/access.test.ts",
    title: "a reader > in a process that has the ledger open leaves the locks on it alone",
  },
  "a fire time that another program carried out is executed again": {
    file: "src/app/execute-job.ts",
    find: "(await ledger.schedule.unfinished(job.id)).includes(slot)",
    replace: "true",
    test: "app/execute-job.test.ts",
    title:
      "jobs are executed without a command line: each tells its face what it came to, under the run lock, and a fire time is done once",
  },
  "a report is read from the ledger as fast as stdout is": {
    file: "src/cli/stdout.ts",
    find: `await writeWhole(path, chunks, { what: "result", group: undefined });`,
    replace: "return await toStdout(chunks);",
    test: "cli/written-files.test.ts",
    title:
      "what is read from one state of the ledger > is read to its end before the first of it goes to stdout, however slowly that is read",
  },
  "private fields stand in a record as they are": {
    file: "src/ledger/private/private.ts",
    find: "for (const field of privateFields[stream]) replace(body, field, field, values);",
    replace: "",
    test: "ledger/private.test.ts",
    title: "private values > are in one table and in no other",
  },
  "the journal keeps what was sent in clear": {
    file: "src/apply/deliver.ts",
    find: "context: options.existing?.context ?? prepared.context,",
    replace: "context: { ...prepared.context, wire: bound.wire },",
    test: "apply/deliver.test.ts",
    title: "an operation that works > leaves a whole chain of evidence, with no private value in it",
  },
  "commitments are not salted": {
    file: "src/ledger/private/private.ts",
    find: "return sha256(`${salt}",
    replace: "return sha256(`",
    test: "ledger/private.test.ts",
    title: "private values > compare by salted commitments that differ between records and fields",
  },
  "a value that no longer fits its commitment is handed out": {
    file: "src/ledger/state/known.ts",
    find: "if (value === undefined || commitmentTo(row.salt, marker.field, value) !== marker.commitment) return undefined;",
    replace: "",
    test: "ledger/private.test.ts",
    title:
      "private values > are not handed out when they no longer fit their commitment, were erased, or are of another version",
  },
  "passwords are kept after they did their work": {
    file: "src/operation/place-order.ts",
    find: "if (context.secrets)",
    replace: "if (context.secrets === undefined)",
    test: "apply/deliver.test.ts",
    title:
      "an operation that works > E9 and E5 place the order with numbers of its own, keep its licence orders and wipe its passwords",
  },
  "a row that stands twice is taken as it came last": {
    file: "src/ledger/records/record-tables.ts",
    find: "existing.last_read === read &&",
    replace: "existing.last_read < 0 &&",
    test: "ledger/records.test.ts",
    title:
      "an id that stands twice in one read > is quarantined with the record, until one of the two goes (in one batch)",
  },
  "a record belongs to the source that read it last": {
    file: "src/ledger/records/record-tables.ts",
    find: `if (existing !== undefined && existing.source !== source && existing.state !== "absent") {`,
    replace: `if (existing !== undefined && existing.source === "") {`,
    test: "ledger/records.test.ts",
    title: "a record that two sources claim > is blocked for both, and released when the second source lets go",
  },
  "a record is gone at the first reading without it": {
    file: "src/ledger/records/absence.ts",
    find: "this.#statements.makeAbsent.run(now, source, stream, read, rule.reads, since)",
    replace: "this.#statements.makeAbsent.run(now, source, stream, read, 1, since)",
    test: "ledger/records.test.ts",
    title:
      "a record that is missing > is gone only after three whole, complete reads without it, and comes back when it is there again",
  },
  "a row whose id cannot be read makes another one gone": {
    file: "src/ledger/records/absence.ts",
    find: 'whyNot(nameless?.count ?? 0, nameless?.codes ?? "", rule)',
    replace: 'whyNot(0, "", rule)',
    test: "ledger/records.test.ts",
    title:
      "a record that cannot be used > takes nothing for gone while its id cannot be read: it may be any of those that are missing",
  },
  "an old form from the quarantine is put over a newer one": {
    file: "src/ledger/records/quarantine-retry.ts",
    find: "if (this.#records.readSince(row.stream, item.record.key, row.source, row.last_read)) {",
    replace: "if (id === now) {",
    test: "ledger/records.test.ts",
    title:
      "a record that cannot be used > is not put over a newer form, when its id can be read by now and somebody asks for it",
  },
  "a slot fires again after the clock was set back": {
    file: "src/ledger/schedule/fire-times.ts",
    find: "if (run.fired.get(job, fireTime) !== undefined) return false;",
    replace: "",
    test: "ledger/journal.test.ts",
    title: "slots > that fired stay fired when the clock was set back, and the others may still fire",
  },
  "a hold is decided twice": {
    file: "src/ledger/approvals/approvals.ts",
    find: "if (!from.includes(hold.state)) {",
    replace: "if (from.length === 0) {",
    test: "ledger/journal.test.ts",
    title: "holds > are decided once, by a reason that stands in the chain",
  },
  "a text that looks like a formula is one": {
    file: "src/report/csv.ts",
    find: "return formulaStart.test(text) ?",
    replace: "return text === undefined ?",
    test: "inquiry/reports.test.ts",
    title: "the form of a report > keeps a text that looks like a formula from being one",
  },
  "a record in quarantine forgets whose it was": {
    file: "src/ledger/records/record-tables.ts",
    find: "const customer = item.customer ?? this.#customerOf(stream, item.key);",
    replace: "const { customer } = item;",
    test: "ledger/records.test.ts",
    title:
      "a record that cannot be used > belongs to the customer that its raw form names, or else to that of its last good form",
  },
  "a source that is configured no longer claims its records for ever": {
    file: "src/ledger/records/record-tables.ts",
    find: "if (this.unconfigured.isConfigured(existing.source, stream))",
    replace: "",
    test: "cli/sources.test.ts",
    title:
      "a source that is taken out of the configuration > no longer claims a record of another one, which goes on (read before it)",
  },
  "what another source says of a record makes it seen": {
    file: "src/ledger/records/record-statements.ts",
    find: "missed = iif(source = @source, 0, missed)",
    replace: "missed = 0",
    test: "cli/sources.test.ts",
    title:
      "a record that one source has given up and another one claims changes hands, also where it changes meanwhile",
  },
  "what an answer teaches is kept in memory otherwise than in the ledger": {
    file: "src/operation/state.ts",
    find: "known.enterpriseCode ?? change.code",
    replace: "change.code",
    test: "ledger/state-changes.test.ts",
    title: "what is learned of a customer, applied in memory, is what its rows say when they are read again",
  },
  "a row of what was learned says otherwise than the change": {
    file: "src/ledger/state/changes.ts",
    find: "link.examined ? 1 : 0,",
    replace: "0,",
    test: "ledger/state-changes.test.ts",
    title: "what is learned of a customer, applied in memory, is what its rows say when they are read again",
  },
};
