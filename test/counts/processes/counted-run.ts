import { createHook } from "node:async_hooks";
import { CallCounter, type Calls } from "../calls.ts";

/**
 * Carries one command line out, from source, and prints what it called (`CountedRun`). What the command line prints goes
 * to stderr. Its clock moves only when it waits. Arguments: the time at the start in epoch milliseconds, and the words
 * of the command line.
 */

export interface CountedRun {
  /** Calls until the run asks its queue for customers. */
  reading: Calls;
  /** Calls from there to the commit of the audit entry of each E5, and from one to the next. */
  working: Calls[];
  /** Promises that were made, by Node too. */
  promises: number;
}

// Started before the program is loaded: of what V8 compiled earlier it may miss calls.
const counter = new CallCounter();
const { createOutput } = await import("../../../src/cli/output.ts");
const { carryOut } = await import("../../../src/cli/program.ts");
const { KeptHeads } = await import("../../../src/ledger/audit/audit-heads.ts");
const { AuditLog } = await import("../../../src/ledger/audit/audit-log.ts");
const { Records } = await import("../../../src/ledger/records/records.ts");

let promises = 0;
createHook({
  init(_id, type) {
    if (type === "PROMISE") promises += 1;
  },
}).enable();

let reading: Calls | undefined;
const working: Calls[] = [];
let isAppended = false;

/* oxlint-disable typescript/unbound-method -- each is called with the `this` that it was called with */
const { pendingCustomers } = Records.prototype;
Records.prototype.pendingCustomers = function (...asked) {
  reading ??= counter.read();
  return pendingCustomers.apply(this, asked);
};
const { append } = AuditLog.prototype;
AuditLog.prototype.append = function (entry) {
  isAppended ||= entry.body["endpoint"] === "E5";
  return append.call(this, entry);
};
// The head of the audit log is kept right after each commit.
const { keep } = KeptHeads.prototype;
KeptHeads.prototype.keep = function (...kept) {
  if (isAppended) working.push(counter.read());
  isAppended = false;
  return keep.apply(this, kept);
};
/* oxlint-enable typescript/unbound-method */

const [start, ...words] = process.argv.slice(2);
let at = Number(start);
const clock = {
  now: () => at,
  monotonic: () => at,
  sleep: async (ms: number) => {
    at += ms;
  },
};
const { env, stderr } = process;
process.exitCode = await carryOut(words, {
  environment: env,
  output: createOutput(stderr, stderr, () => at, { environment: env }),
  signal: new AbortController().signal,
  startWeb: () => Promise.reject(new Error("a run opens no pages")),
  clock,
});
const run: CountedRun = { reading: reading ?? {}, working, promises };
process.stdout.write(JSON.stringify(run));
