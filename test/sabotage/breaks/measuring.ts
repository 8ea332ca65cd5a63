import type { Breaks } from "../break.ts";

/** Figures that a monitoring system goes by: no failure may look like success in them. */
export const measuring: Breaks = {
  "a ledger that cannot be read leaves its last figures standing": {
    file: "src/web/metrics.ts",
    within: "gaugesOfLedger",
    skips: "forgetLedger",
    test: "web/metrics.test.ts",
    title: "a ledger that cannot be read any more leaves no figure of before standing, and the program answers on",
  },
  "an operation of which nobody knows what became is not in the backlog": {
    file: "src/web/metrics.ts",
    within: "workGauges",
    find: "inDoubt.includes(state)",
    replace: 'state === "parked"',
    test: "web/metrics.test.ts",
    title: "a ledger that cannot be read any more leaves no figure of before standing, and the program answers on",
  },
  "a run that did not do its work counts as one that did": {
    file: "src/app/measured.ts",
    within: "LedgerReading.#count",
    never: "workDoneExits",
    test: "app/measured.test.ts",
    title: "a run that did not do its work moves neither when the job did it last nor what is counted of others",
  },
  "a run that was interrupted counts as a success": {
    file: "src/app/measured.ts",
    within: "LedgerReading.#jobs",
    find: "$run.exitCode ?? exitCodes.other",
    replace: "$run.exitCode ?? exitCodes.ok",
    test: "app/measured.test.ts",
    title: "a run whose process died is counted once, when it is known to be interrupted, and is no success",
  },
  "whatever a service answers stands in the metrics as a code": {
    file: "src/http/seen-call.ts",
    within: "listed",
    find: 'endpoints[$endpoint].codes.includes($code) ? $code : "other"',
    replace: "$code",
    test: "http/seen-call.test.ts",
    title: "observers hear of every attempt, and of a service's codes only those of the contract",
  },
  "a call by which the service failed counts as done": {
    file: "src/http/seen-call.ts",
    within: "ofEffect",
    find: 'unknown: "failed"',
    replace: 'unknown: "done"',
    test: "http/seen-call.test.ts",
    title: "observers hear of every attempt, and of a service's codes only those of the contract",
  },
};
