import type { JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { failureOf } from "../base/errors.ts";
import { isListed, refusedUnlessThere } from "../contract/codes.ts";
import { serviceNameOf } from "../contract/endpoints.ts";
import {
  type Conclusion,
  journalEntry,
  maybePaused,
  refusedYetShown,
  type JournalRow,
} from "../ledger/journal/journal-tables.ts";
import type { StateChange } from "./model/state.ts";
import { type Evidence, takenLater } from "./model/operation-type.ts";
import { isNonRepeatable, typeOf } from "./model/registry.ts";
import { CustomerState, type EngineDependencies } from "./customer.ts";
import {
  evidenceWith,
  named,
  readEvidence,
  readingsIn,
  sendAgain,
  settleFacts,
  stillParked,
  type Open,
  type Settled,
} from "./evidence.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import {
  againAfter,
  passedSince,
  isAsynchronous,
  landsWithin,
  settleTimeBegins,
  settleTimeLeftOf,
  type Again,
} from "./settle-time.ts";
import { isContradiction } from "./send.ts";
import { refusedWith } from "./refusal.ts";

const notTwice =
  "its outcome is not known, no call reads it back, and it is never sent a second time by itself; a person decides";
const mostSendings = 3;
const leftAs: Record<Again["by"], (until: string) => string> = {
  ended: () => "the program ended while the call was in progress",
  paused: (until) => `the program that was sending it may only be paused: it is not sent again before ${until}`,
  asks: () => "the program that was sending it may only be paused: it is not sent again before a person has decided",
};

export interface SettleOptions {
  runId: string | null;
  signal?: AbortSignal | undefined;
  knows?: CustomerState | undefined;
}

/**
 * Finds the outcome of `sending` and `unknown` operations by reading the platform, after a crash as after a lost
 * answer. A visible effect is proof, a missing one is not. After `readings` readings without an effect over the settle
 * time, the operation's type decides.
 */
export class Settling {
  readonly #deps: EngineDependencies;
  readonly #reader: SnapshotReader;

  constructor(deps: EngineDependencies, reader: SnapshotReader) {
    this.#deps = deps;
    this.#reader = reader;
  }

  /** As far as the evidence allows now. Also settles what needs a person, if the platform shows the effect. */
  async settle(
    row: JournalRow,
    { runId, signal, knows = new CustomerState(this.#deps, row.operation.customer) }: SettleOptions,
  ): Promise<Settled> {
    const { id, operation } = row;
    const open: Open = { row, runId, signal, knows };
    if (row.state === "sending") {
      await this.foundSending(row);
      Object.assign(row, await this.#deps.ledger.journal.byId(row.id));
    }
    const told = await this.#withoutReading(open);
    if (told !== undefined) return told;
    if (row.state === "parked" && row.verdict === refusedYetShown) return stillParked(row);
    // Before the reading: a reading that begins within the settle time does not show later effects.
    const refusal = refusedUnlessThere(row.outcomeCode, operation.endpoint) ? row.outcomeCode : null;
    const left = refusal === null ? await settleTimeLeftOf(this.#deps, row) : 0;
    let reading: Evidence;
    try {
      reading = await readEvidence({ ...this.#deps, reader: this.#reader }, row, knows, signal);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.of === "program") throw error;
      if (row.state === "parked") return stillParked(row);
      return { kind: "unreadable", id, reason: failure.reason };
    }
    if (reading.kind === "confirmed") return await this.#confirmed(open, reading);
    if (row.state === "parked") return stillParked(row);
    if (reading.kind === "ambiguous") return await this.#ambiguous(open, reading, left);
    if (refusal !== null && reading.partEffect === undefined) return await this.#refused(open, reading, refusal);
    return await this.#notFound(open, reading, left);
  }

  async #withoutReading(open: Open): Promise<Settled | undefined> {
    const { row } = open;
    const { onUnknown } = typeOf(row.operation);
    if (onUnknown.by === "observe") return undefined;
    if (onUnknown.by === "lost") {
      // The result was lost with the answer: nothing finds it, and nothing is sent again.
      const { verdict, audit, message } = onUnknown.record(row.operation.payload);
      await this.#conclude(open, { state: "dropped", verdict, changes: [], audit });
      this.#deps.logger.warn({ operation: row.id, ...audit.body }, message);
      return { kind: "dropped", id: row.id };
    }
    if (row.state === "parked") return stillParked(row);
    if (onUnknown.by === "ask") return await this.#park(open, notTwice, { call: "none: no operation reads it back" });
    return await this.#setAgain(open, onUnknown.maxOddAnswers ?? Infinity);
  }

  /** For a call that sets a state (A3). `mostOdd`: after so many complete answers without a result a person decides. */
  async #setAgain(open: Open, mostOdd: number): Promise<Settled> {
    const { id, verdict } = open.row;
    const { ledger, clock } = this.#deps;
    const left = verdict === maybePaused ? await settleTimeLeftOf(this.#deps, open.row) : 0;
    if (left > 0) return { kind: "waiting", id, until: toInstant(clock.now() + left) };
    const odd = (await ledger.journal.attempts(id)).filter(
      ({ outcome, httpStatus, code }) => outcome === "unknown" && httpStatus === 200 && code === null,
    );
    if (odd.length < mostOdd) return await sendAgain(this.#deps, open, "sets a state: the same value is sent again");
    const reason =
      `it was answered ${odd.length} times with what does not say what became of it (${odd.at(-1)?.detail ?? ""}); ` +
      "it is not sent again before a person has decided";
    return await this.#park(open, reason, { answered: odd.length });
  }

  /** The call was rejected and no earlier one shows an effect, so one reading is enough. */
  async #refused(open: Open, reading: Extract<Evidence, { kind: "not-found" }>, code: string): Promise<Settled> {
    const { row } = open;
    const refused = refusedWith(this.#deps, row.operation, code, "");
    await this.#conclude(open, {
      state: "rejected",
      verdict: "not applied",
      evidence: this.#evidence(row, false, reading.detail),
      code,
      message: refused.reason,
      changes: [],
      rejections: refused.rejections,
      audit: { kind: "rejected", body: { settledBy: reading.detail } },
    });
    this.#deps.logger.warn({ ...named(row), code }, "operation rejected");
    return { kind: "rejected", id: row.id, code: refused.code, reason: refused.reason };
  }

  /** Its call may just have ended, so its settle time begins now. Not for E9: its numbers are never the same twice. */
  async foundSending({ id, operation, state, attempts }: JournalRow): Promise<void> {
    const { ledger, settle, clock } = this.#deps;
    const landsMs = landsWithin(operation, settle);
    const { onUnknown } = typeOf(operation);
    const { clockSkewMs } = ledger;
    const again = await againAfter(await ledger.journal.left(id), {
      landsMs,
      clockSkewMs,
      passedSince: passedSince(this.#deps),
    });
    const by = again.by === "paused" && onUnknown.by === "ask" ? "asks" : again.by;
    const settleAfter = toInstant(clock.now() + again.afterMs);
    const message = leftAs[by](settleAfter);
    settleTimeBegins(this.#deps, { id, subject: operation.subject }, again.afterMs);
    await ledger.journal.conclude(id, {
      state: by === "asks" && onUnknown.by !== "lost" ? "parked" : "unknown",
      expected: { state, attempts },
      attempt: { outcome: "unknown", detail: message },
      settleAfter,
      verdict: by === "ended" ? undefined : maybePaused,
      message,
      changes: [],
      audit: { kind: "unknown", body: { reason: message } },
    });
  }

  /** Only if it is unchanged since it was read: a person may have decided meanwhile. */
  async #conclude(
    { row, knows }: Pick<Open, "row" | "knows">,
    conclusion: Omit<Conclusion, "expected">,
  ): Promise<void> {
    await knows.conclude(row.operation, row.id, {
      ...conclusion,
      expected: { state: row.state, attempts: row.attempts },
    });
  }

  async #confirmed(open: Open, reading: Extract<Evidence, { kind: "confirmed" }>): Promise<Settled> {
    const { row } = open;
    const met = reading.effect.met ?? [];
    await this.#deps.ledger.assumptions.met(met, row.id);
    try {
      await this.#conclude(open, {
        state: "done",
        verdict: "applied",
        evidence: this.#evidence(row, true, reading.detail),
        changes: reading.effect.changes,
        audit: { kind: row.operation.kind, body: { ...reading.effect.audit, settledBy: reading.detail } },
      });
    } catch (error) {
      if (!isContradiction(error)) throw error;
      return row.state === "parked" ? stillParked(row) : await this.#park(open, error.message, reading.detail, true);
    }
    this.#deps.logger.info(named(row), "settled: applied");
    return { kind: "done", id: row.id };
  }

  /** `left`: milliseconds in which it can still take effect. */
  #evidence(row: JournalRow, seen: boolean, detail: JsonObject, left = 0): JsonObject {
    const { clock, settle } = this.#deps;
    const early = left > 0 && !seen ? { early: true as const } : {};
    return evidenceWith(row, { at: toInstant(clock.now()), seen, ...early, detail }, settle.readings);
  }

  /** A partly shown effect may still become complete. After the settle time a person decides. */
  async #ambiguous(open: Open, reading: Extract<Evidence, { kind: "ambiguous" }>, left: number): Promise<Settled> {
    const { row } = open;
    const shows = reading.says !== "nothing";
    if (left === 0) {
      await this.#deps.ledger.assumptions.met(reading.met ?? [], row.id);
      return await this.#park(open, reading.reason, reading.detail, shows);
    }
    const until = toInstant(this.#deps.clock.now() + this.#pause(row, left));
    if (!shows) return { kind: "waiting", id: row.id, until };
    const evidence = this.#evidence(row, true, reading.detail);
    await this.#deps.ledger.journal.noteEvidence(row.id, evidence);
    row.evidence = evidence;
    return { kind: "waiting", id: row.id, until };
  }

  #pause({ operation }: JournalRow, left: number): number {
    return isAsynchronous(operation) ? Math.min(left, this.#deps.settle.asyncPauseMs) : left;
  }

  async #notFound(open: Open, reading: Extract<Evidence, { kind: "not-found" }>, left: number): Promise<Settled> {
    const { row } = open;
    const { ledger, clock, settle } = this.#deps;
    const evidence = this.#evidence(row, false, reading.detail, left);
    const readings = readingsIn(evidence).filter((item) => item.attempts === row.attempts);
    const shown = readings.find((item) => item.seen);
    if (left > 0 || (shown === undefined && counted(readings) < settle.readings)) {
      await ledger.journal.noteEvidence(row.id, evidence);
      row.evidence = evidence;
      const pause = left > 0 ? this.#pause(row, left) : Math.ceil(settle.timeMs / Math.max(1, settle.readings));
      return { kind: "waiting", id: row.id, until: toInstant(clock.now() + pause) };
    }
    if (shown !== undefined) {
      return await this.#park(
        open,
        `the platform showed something of it at ${shown.at} and does not any more, so not seeing it says nothing`,
        reading.detail,
      );
    }
    const inPart = reading.partEffect !== undefined;
    const { onUnknown, can } = typeOf(row.operation);
    await ledger.assumptions.met(can.assumes?.notShown?.({ code: row.outcomeCode, inPart }) ?? [], row.id);
    if (isAsynchronous(row.operation)) return await this.#notByItsDeadline(open, reading.detail);
    const sent = await this.#sendings(row);
    if (sent >= mostSendings && reading.partEffect === undefined) {
      return await this.#park(
        open,
        `it was sent ${sent} times; ${await this.#answers(open)}, and the platform does not show it. It is not sent ` +
          "again before a person has decided",
        reading.detail,
      );
    }
    const notShown = onUnknown.by === "observe" ? onUnknown.notShown : undefined;
    const next = (await notShown?.(journalEntry(row), settleFacts(this.#deps, open.knows))) ?? { kind: "drop" };
    switch (next.kind) {
      case "drop":
        return await this.#drop(open, evidence, reading.partEffect?.changes ?? []);
      case "park": {
        const answers = row.outcomeCode === null ? "" : `; ${await this.#answers(open)}`;
        return await this.#park(open, `${next.reason}${answers}`, reading.detail);
      }
      case "unreadable":
        return { kind: "unreadable", id: row.id, reason: next.reason };
      case "send-again":
        await ledger.journal.noteEvidence(row.id, evidence);
        return await sendAgain(this.#deps, open, next.why);
    }
  }

  /** Only a person may send it again. If the service accepted it, this contradicts A15. */
  async #notByItsDeadline(open: Open, detail: JsonObject): Promise<Settled> {
    const { ledger } = this.#deps;
    const attempts = await ledger.journal.attempts(open.row.id);
    const evidence = "an asynchronous E5 was answered as taken, and the platform did not show it by its deadline";
    if (attempts.some(({ detail: said }) => said === takenLater.doubt))
      await ledger.assumptions.met([{ row: "A15", evidence }], open.row.id);
    const reason =
      "it was sent with syncMode async, and the platform does not show it by its deadline (settle.asyncDeadlineMs), " +
      "which says neither that it was carried out nor that it was refused later; a person looks and decides";
    return await this.#park(open, reason, detail);
  }

  async #answers({ row: { id, operation } }: Open): Promise<string> {
    const attempts = await this.#deps.ledger.journal.attempts(id);
    const code = attempts.at(-1)?.code ?? null;
    if (code === null) return "no answer said what became of it";
    const always = attempts.length > 1 && attempts.every((attempt) => attempt.code === code);
    const known = isListed(code, operation.endpoint) ? "" : ", a code that crm-sync does not know";
    const words = /\(the service says: .*\)$/u.exec(attempts.at(-1)?.detail ?? "")?.[0] ?? "";
    const when = always ? " each time" : attempts.length > 1 ? " last" : "";
    return `the ${serviceNameOf(operation.endpoint)} answered${when} with ${code}${known} ${words}`.trimEnd();
  }

  /** The most sends without a known outcome for one of its records, since a person's last decision. */
  async #sendings(row: JournalRow): Promise<number> {
    const { kind, records } = row.operation;
    if (!isNonRepeatable(row.operation)) return 0;
    let most = 0;
    for (const record of records) most = Math.max(most, await this.#deps.ledger.journal.sendingsInDoubt(record, kind));
    return most;
  }

  async #drop(open: Open, evidence: JsonObject, changes: readonly StateChange[]): Promise<Settled> {
    const { row } = open;
    const partly = changes.length > 0;
    await this.#conclude(open, {
      state: partly ? "done" : "dropped",
      verdict: partly ? "applied in part; the rest is planned anew" : "not applied; planned anew",
      evidence,
      changes,
      audit: { kind: partly ? row.operation.kind : "not-applied", body: { settledBy: evidence } },
    });
    this.#deps.logger.info({ ...named(row), partly }, "settled: not applied");
    return { kind: "dropped", id: row.id };
  }

  async #park(open: Open, reason: string, detail: JsonObject, seen = false): Promise<Settled> {
    const { row } = open;
    await this.#conclude(open, {
      state: "parked",
      verdict: "waits for a person",
      evidence: this.#evidence(row, seen, detail),
      code: row.outcomeCode ?? undefined,
      message: reason,
      changes: [],
      audit: { kind: "parked", body: { reason, settledBy: detail } },
    });
    this.#deps.logger.error({ ...named(row), reason }, "operation parked");
    return { kind: "parked", id: row.id, reason };
  }
}

/** Readings within the settle time count as one. No single later reading decides: it may have been incomplete. */
function counted(readings: readonly { early?: true | undefined }[]): number {
  const early = readings.filter((reading) => reading.early === true).length;
  return readings.length - Math.max(0, early - 1);
}
