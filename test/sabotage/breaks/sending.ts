import type { Breaks } from "../break.ts";

/** From the intent to the outcome of one call. */
export const sending: Breaks = {
  "the call is made before its intent is written": {
    file: "src/http/client.ts",
    find: "if (beforeSending !== undefined) {",
    replace: `const early = beforeSending?.();
    void early?.catch(() => {});
    if (beforeSending === null) {`,
    test: "http/writes.test.ts",
    title:
      "a write that succeeded > uses the nonce that was written down, and waits for what has to be on disk before it leaves",
  },
  "an intent is written before the call has its permit": {
    file: "src/http/client.ts",
    find: "const ended = Promise.withResolvers<Attempt<T>>();",
    replace: `const ended = Promise.withResolvers<Attempt<T>>();
    await options.beforeSending?.();
    options = { ...options, beforeSending: undefined };`,
    test: "http/writes.test.ts",
    title:
      "the permit of a write > comes before the intent, and is kept until the outcome is recorded: no more intents are open than calls are allowed",
  },
  "a permit is given on before the outcome is recorded": {
    file: "src/http/client.ts",
    find: "await options.recorded;",
    replace: "",
    test: "http/writes.test.ts",
    title:
      "the permit of a write > comes before the intent, and is kept until the outcome is recorded: no more intents are open than calls are allowed",
  },
  "a call leaves although the run was stopped while its intent was written": {
    file: "src/http/client.ts",
    find: "if (signal?.aborted !== true && closed === undefined) return undefined;",
    replace: "if (closed === undefined) return undefined;",
    test: "http/writes.test.ts",
    title:
      "the permit of a write > is worth nothing when the run is stopped, or the intent is refused, while the intent is committed; it is given back",
  },
  "an intent is answered before its commit": {
    file: "src/ledger/journal/journal.ts",
    find: `const id = entry.id ?? this.#context.ids.next("op");
    await this.#context.write(`,
    replace: `const id = entry.id ?? this.#context.ids.next("op");
    void this.#context.write(`,
    test: "apply/deliver.test.ts",
    title: "the order in which things are written > has the intent on disk before the first byte leaves",
  },
  "the writer answers before it commits": {
    file: "src/ledger/database/writer.ts",
    find: "this.#commit.run();",
    replace: "setTimeout(() => this.#commit.run(), 50);",
    test: "ledger/writer.test.ts",
    title: "the one writer > answers after the commit and not before",
  },
  "the ledger is written with synchronous = normal": {
    file: "src/ledger/database/database.ts",
    find: `database.pragma("synchronous = full");`,
    replace: `database.pragma("synchronous = normal");`,
    test: "ledger/writer.test.ts",
    title: "a ledger > reads the durability back that it asked for",
  },
  "the durability is not read back": {
    file: "src/ledger/database/database.ts",
    find: `if (mode !== "wal" || synchronous !== 2) {`,
    replace: `database.pragma("synchronous = normal");
  if (mode !== "wal") {`,
    test: "ledger/writer.test.ts",
    title: "a ledger > reads the durability back that it asked for",
  },
  "the writer goes on after a commit that failed": {
    file: "src/ledger/database/writer.ts",
    find: "this.#broken ??= problem;",
    replace: "",
    test: "ledger/writer.test.ts",
    title: "the one writer > accepts nothing more after a commit that failed, and says why",
  },
  "an outcome is not written down": {
    file: "src/apply/deliver.ts",
    find: `await deps.ledger.journal.conclude(id, {
          state: "done",`,
    replace: `await deps.ledger.journal.byId(id, {
          state: "done",`,
    test: "apply/deliver.test.ts",
    title: "an operation that works > E2 makes the enterprise, links it and protects the members it came with",
  },
  "the audit entry is committed after the outcome, in a transaction of its own": {
    file: "src/ledger/journal/journal.ts",
    find: `this.#context.audit.append({
      at,
      kind: conclusion.audit.kind,`,
    replace: `this.#context.database.exec("commit; begin immediate; savepoint work");
    this.#context.audit.append({
      at,
      kind: conclusion.audit.kind,`,
    test: "ledger/journal.test.ts",
    title: "conclusions > leave nothing at all when something throws in the audit entry",
  },
  "a conclusion is left half-written when something throws": {
    file: "src/ledger/database/writer.ts",
    find: `this.#database.exec("rollback to work");`,
    replace: "",
    test: "ledger/journal.test.ts",
    title: "conclusions > leave nothing at all when something throws in the changes",
  },
  "an operation is concluded twice": {
    file: "src/ledger/journal/journal.ts",
    find: `if (row.state === "done" || row.state === "rejected" || row.state === "dropped") {`,
    replace: `if (row.state === "rejected" || row.state === "dropped") {`,
    test: "ledger/journal.test.ts",
    title: "conclusions > are final",
  },
  "a conclusion rests on an older look at the operation": {
    file: "src/ledger/journal/journal.ts",
    find: "if (expected !== undefined && (",
    replace: "if (expected === null && (",
    test: "ledger/journal.test.ts",
    title: "conclusions > that rest on an older look at the operation are refused",
  },
  "one subject has two intents": {
    file: "migrations/0001_ledger.ts",
    find: "create unique index operation_open",
    replace: "create index operation_open",
    test: "ledger/journal.test.ts",
    title: "intents > are one at a time for a customer and subject, whatever state the open one is in",
  },
  "a held operation is sent": {
    file: "src/ledger/journal/journal-tables.ts",
    find: "where id = +? and state in ('planned', 'unknown')",
    replace: "where id = +? and state in ('planned', 'unknown', 'held')",
    test: "ledger/journal.test.ts",
    title: "intents > that were planned before begin with their own row; a held one is not sent",
  },
  "an order sent again has the nonce of its first attempt": {
    file: "src/apply/deliver.ts",
    find: "const nonce = deps.random.hex(16);",
    replace: `const nonce =
    options.existing === undefined ? deps.random.hex(16) : (await ledger.journal.attempts(options.existing.id))[0].nonce;`,
    test: "apply/settle.test.ts",
    title:
      "an order whose answer was lost (E5) > is sent again where the settings say so, with the same bytes and numbers and another nonce",
  },
  "a read tried again has the nonce of its first attempt": {
    file: "src/http/client.ts",
    find: "attempt(options, random.hex(16), null)",
    replace: "attempt(options, (options.nonce ??= random.hex(16)), null)",
    test: "http/reads.test.ts",
    title: "a read is tried again > after code 500, with a new nonce each time",
  },
  "the payload of an order sent again is not compared with its intent": {
    file: "src/apply/deliver.ts",
    find: "options.existing.wireHash !== wireHash",
    replace: "options.existing.wireHash === null",
    test: "apply/settle.test.ts",
    title:
      "an order that is to be sent again and would not be the same > is parked, and nothing is sent: another customer of the enterprise is the default now",
  },
  "a channel order number is not claimed by its intent": {
    file: "src/ledger/journal/journal.ts",
    find: "this.#claims.require(entry.operation, entry.id);",
    replace: "",
    test: "apply/claims.test.ts",
    title: "what an intent claims for itself alone > an order in doubt is not placed for anybody else either",
  },
  "an order that moved is placed for its new customer too": {
    file: "src/ledger/journal/uniqueness.ts",
    find: "const owner = placed ?? open;",
    replace: "const owner = open;",
    test: "apply/claims.test.ts",
    title:
      "what an intent claims for itself alone > an order that the CRM gives to another customer later is not placed a second time",
  },
  "two customers under one channel number get two enterprises": {
    file: "src/ledger/journal/uniqueness.ts",
    find: `this.#requireEnterprise(wanted, operationId ?? "");`,
    replace: "void 0;",
    test: "apply/claims.test.ts",
    title:
      "what an intent claims for itself alone > two customers under one channel customer number get one enterprise, not two",
  },
  "asset numbers are chosen anew for each attempt": {
    file: "src/ledger/state/numbers.ts",
    find: "and instance_id = +? and fixed_at is not null",
    replace: "and instance_id = +? and fixed_at is not null and 1 = 0",
    test: "ledger/journal.test.ts",
    title: "asset numbers > are fixed to an instance once and for good",
  },
  "numbers are used without being fixed to their asset": {
    file: "src/ledger/state/numbers.ts",
    find: "run.fix.run(at, free.wire,",
    replace: "run.spend.run(at, free.digits,",
    test: "ledger/journal.test.ts",
    title: "asset numbers > are fixed to an instance once and for good",
  },
  "a number that E9 hands out again is given to a second asset": {
    file: "src/ledger/state/changes.ts",
    find: "values (?, 'pool', ?, ?) on conflict do nothing",
    replace: "values (?, 'pool', ?, ?) on conflict (number) do update set fixed_at = null",
    test: "ledger/journal.test.ts",
    title: "asset numbers > are not handed out twice when the service hands them out twice",
  },
  "numbers whose answer was lost leave no gap in the chain": {
    file: "src/apply/pool.ts",
    find: `kind: lost ? "numbers-lost" : "numbers-refused"`,
    replace: `kind: "numbers-refused"`,
    test: "apply/settle.test.ts",
    title: "numbers whose answer was lost (E9) > are spent: the gap stands in the chain, and the order gets others",
  },
  "a run that was stopped is taken for a service that cannot be reached": {
    file: "src/apply/deliver.ts",
    find: `if (options.signal?.aborted === true) return { kind: "stopped" };
        return { kind: "not-sent"`,
    replace: `return { kind: "not-sent"`,
    test: "apply/stopped.test.ts",
    title: "whatever is to be sent once the run was stopped is not sent, and leaves no trace in the journal",
  },
  "a password made for somebody is made anew when M1 is sent again": {
    file: "src/apply/deliver.ts",
    find: `const password = kept.values?.["password"];`,
    replace: "const password = undefined;",
    test: "apply/settle.test.ts",
    title:
      "staff whose answer was lost (M1) > that were not added are planned anew after the settle time, with the passwords that were made for them",
  },
};
