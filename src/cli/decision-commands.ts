import { namedKind } from "../operation/registry.ts";
import type { Decision } from "../apply/decide.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import { printable } from "../report/text.ts";
import { ok, withLedger, withWorkplace } from "./command.ts";
import type { Invocation } from "./command.ts";
import { deciderOf } from "./decider.ts";
import type { DecisionLine } from "./decisions-file.ts";
import { parseKey, usage } from "./keys.ts";
import { describeProblem, problemJson } from "./output.ts";
import type { Workplace } from "./workplace.ts";

function requireReason(reason: string | undefined): string {
  const text = reason?.trim() ?? "";
  if (text !== "") return text;
  throw usage("a decision needs a reason; it is kept in the audit record", "add --reason TEXT");
}

/** `approve ID` and `reject ID`: a person's decision on what a limit holds. */
export async function holdCommand(
  invocation: Invocation,
  verdict: "approved" | "rejected",
  id: string,
  words: { reason?: string | undefined; by?: string | undefined },
): Promise<ExitCode> {
  return await withLedger(invocation, async (workplace) => {
    const why = requireReason(words.reason);
    const by = deciderOf(words.by);
    const ledger = await workplace.existingLedger();
    const hold = await ledger.decideHold(id, verdict, why, by);
    const customer = formatKey(hold.customer);
    if (workplace.json) workplace.output.json({ hold: id, customer, state: verdict });
    else if (verdict === "approved") {
      workplace.output.line(
        `hold ${id} of customer ${customer} is approved; the next run carries out exactly this set of revokes`,
      );
    } else workplace.output.line(`hold ${id} of customer ${customer} is rejected; nothing of it is taken away`);
    return ok;
  });
}

/** What `settle` is told: operations by id, all of a run, or a file of decisions. */
export interface SettleWords {
  applied: boolean;
  notApplied: boolean;
  reason?: string | undefined;
  allOf?: string | undefined;
  decisions?: string | undefined;
  by?: string | undefined;
}

/** `settle ID... --applied|--not-applied`: a person's decisions on operations that reading cannot settle. Each stands for itself. */
export async function settleCommand(
  invocation: Invocation,
  ids: readonly string[],
  words: SettleWords,
): Promise<ExitCode> {
  return await withWorkplace(invocation, async (workplace) => {
    const by = deciderOf(words.by);
    const lines = await decisionLines(workplace, ids, words);
    const { decide } = await import("../apply/decide.ts");
    const { SnapshotReader } = await import("../platform/snapshot.ts");
    const dependencies = await workplace.runDependencies();
    await workplace.requirePlatform();
    const observer = new SnapshotReader(dependencies.platform, dependencies.settings);
    const one = async (line: DecisionLine): Promise<Decision> => {
      if ("problem" in line) throw line.problem;
      if (invocation.signal.aborted) throw stoppedBefore(line.id);
      return await decide(
        dependencies,
        observer,
        line.id,
        line.verdict,
        { reason: line.reason, by },
        invocation.signal,
      );
    };
    const [single] = lines;
    if (lines.length === 1 && single !== undefined && words.decisions === undefined) {
      const decided = await one(single);
      if (workplace.json) workplace.output.json(decisionJson(decided));
      else workplace.output.line(decided.summary);
      return ok;
    }
    return await settleEach(workplace, lines, one);
  });
}

/** Decides line by line; one that cannot be decided is reported and stops no other. The exit code is the worst of them. */
async function settleEach(
  workplace: Workplace,
  lines: readonly DecisionLine[],
  one: (line: DecisionLine) => Promise<Decision>,
): Promise<ExitCode> {
  const { output, json } = workplace;
  const results: Json[] = [];
  const failures: Problem[] = [];
  for (const line of lines) {
    try {
      const decided = await one(line);
      results.push(decisionJson(decided));
      if (!json) output.line(`${decided.id} ${decided.endpoint} on ${printable(decided.subject)}: ${decided.summary}`);
    } catch (error) {
      if (!(error instanceof Problem) || (await workplace.ledger()).broken !== undefined) throw error;
      failures.push(error);
      const id = "problem" in line ? null : line.id;
      results.push({ operation: id, place: line.place === "" ? null : line.place, error: problemJson(error) });
      output.note(`${line.place === "" || "problem" in line ? "" : `${line.place}: `}${describeProblem(error)}`);
    }
  }
  if (json) output.json(results);
  else output.line(`${lines.length - failures.length} of ${lines.length} operation(s) decided`);
  return failures.reduce<ExitCode>((worst, { exitCode }) => worseOf(worst, exitCode), ok);
}

/** Which operations are meant, and what is decided about each. */
async function decisionLines(
  workplace: Workplace,
  ids: readonly string[],
  words: SettleWords,
): Promise<DecisionLine[]> {
  const ways = [ids.length > 0, words.allOf !== undefined, words.decisions !== undefined].filter(Boolean).length;
  if (ways !== 1)
    throw usage("settle takes ids, --all-of RUN or --decisions FILE, one of them", "crm-sync settle --help");
  if (words.decisions !== undefined) {
    if (words.applied || words.notApplied)
      throw usage("with --decisions each line has its own verdict", "leave --applied and --not-applied out");
    workplace.requireLedger();
    const { readDecisions } = await import("./decisions-file.ts");
    return readDecisions(words.decisions, words.reason);
  }
  if (words.applied === words.notApplied) throw usage("settle needs one verdict", "add --applied or --not-applied");
  const reason = requireReason(words.reason);
  workplace.requireLedger();
  const wanted = words.allOf === undefined ? [...new Set(ids)] : await openOperationsOf(workplace, words.allOf);
  return wanted.map((id) => ({ place: "", id, verdict: words.applied ? "applied" : "not-applied", reason }));
}

/** Operations of a run that wait for a decision, or for their outcome; E9 settles by itself. */
async function openOperationsOf(workplace: Workplace, run: string): Promise<string[]> {
  const queries = await workplace.queries();
  const wanted = run === "last" ? (await queries.runs({ limit: 1 }))[0]?.id : run;
  const found: string[] = [];
  for await (const row of queries.unsettled())
    if (row.runId === wanted && namedKind(row.kind)?.whenUnknown !== "lost") found.push(row.id);
  if (found.length === 0)
    throw usage(`the run ${run} left no operation whose outcome is open`, "`crm-sync settle list` shows all that are");
  return found;
}

function decisionJson(decided: Decision): JsonObject {
  const { id, state, subject, endpoint, showed } = decided;
  return { operation: id, state, subject, endpoint, showed };
}

function stoppedBefore(id: string): Problem {
  const cure = "say it again; what was decided before stays decided";
  return new Problem({ code: "settle.stopped", message: `operation ${id} was not decided: settle was stopped`, cure });
}

/** Exit codes, the worst first. */
const worstFirst: readonly ExitCode[] = [
  exitCodes.ledgerRefused,
  exitCodes.configuration,
  exitCodes.runActive,
  exitCodes.doesNotBalance,
  exitCodes.unknown,
  exitCodes.sourceDown,
  exitCodes.other,
  exitCodes.usage,
];

function worseOf(left: ExitCode, right: ExitCode): ExitCode {
  return worstFirst.find((code) => code === left || code === right) ?? (left === ok ? right : left);
}

/** `staff password ID`: hands the generated initial password out, once. */
export async function staffPasswordCommand(
  invocation: Invocation,
  id: string,
  words: { by?: string | undefined },
): Promise<ExitCode> {
  return await withLedger(invocation, async (workplace) => {
    const by = deciderOf(words.by);
    const key = formatKey(parseKey(id, workplace.config.namespace));
    const ledger = await workplace.existingLedger();
    const ref = `initial-password/${key}`;
    const sealed = await ledger.latestSealed(ref);
    const password = sealed.values?.["password"];
    const linked = await ledger.isStaffLinked(parseKey(id, workplace.config.namespace));
    if (!linked || typeof password !== "string") {
      throw new Problem({
        code: "staff.no-password",
        message: !linked
          ? `staff member ${key} was not added by crm-sync yet, so there is no password to hand out`
          : sealed.version > 0
            ? `the initial password of staff member ${key} was handed out already and is not kept`
            : `there is no generated password for staff member ${key}`,
        cure: !linked
          ? "`crm-sync explain staff ID` says what it waits for"
          : "have the person reset the password on the platform",
        exitCode: exitCodes.usage,
      });
    }
    // Audited first, printed next, wiped last: a pipe that breaks loses nothing, and no showing is without its entry.
    const body = { version: sealed.version, by };
    await ledger.audit({ kind: "password-handed-out", subject: `staff:${key}`, body });
    if (workplace.json) workplace.output.json({ staff: key, password });
    else workplace.output.line(password);
    await workplace.output.written();
    await ledger.wipeSealed(ref, sealed.version);
    workplace.output.note(`the initial password of ${key}; it is shown this once and is not kept`);
    return ok;
  });
}
