import { deciderOf, decisionOf, parseKey, type DecisionWords } from "../words.ts";
import type { Application } from "../../operate/application.ts";
import type { GivenDecision } from "../../requests/decisions.ts";
import type { Decision } from "../../engine/settle-by-person.ts";
import { type Json, type JsonObject } from "../../base/canonical-json.ts";
import { type ExitCode, exitCodes, Problem, usage } from "../../base/errors.ts";
import { counted, printable } from "../../report/text.ts";
import { ok, withApplication, withReader, type Invocation } from "../command.ts";
import { byWhom, example, withReason, type Register } from "../command-line.ts";
import { describeProblem, problemJson } from "../output.ts";
import { requireReason } from "../../requests/reason.ts";
import type { Resolved, RecordSubject } from "../../requests/resolve.ts";
import type { OperationFacts } from "../../report/facts.ts";
import type { Stream } from "../../crm/model.ts";

export const addSettle: Register = (program, carryOut) => {
  const settle = program
    .command("settle")
    .description("decide the outcome of an operation that needs a person")
    .argument("[id...]", "one operation or more")
    .option("--applied", "it was carried out", false)
    .option("--not-applied", "it was not carried out", false)
    .option("--run <run>", "every operation of this run (or `last`) whose outcome is open")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      example(
        "crm-sync settle list",
        'crm-sync settle op_… op_… --not-applied --reason "the service desk found no such orders"',
      ),
    )
    .action((ids, options) =>
      carryOut((invocation) => {
        const none = ids.length === 0 && options.run === undefined;
        return none ? settleListCommand(invocation) : settleCommand(invocation, ids, options);
      }),
    );
  settle
    .command("list")
    .description("operations whose outcome is not known, with the evidence")
    .addHelpText("after", example("crm-sync settle list --json"))
    .action(() => carryOut(settleListCommand));
};

async function settleListCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const rows: OperationFacts[] = [];
    for await (const row of (await application.inquiry()).unsettled()) rows.push(row);
    const { operationText, unsettledText } = await import("../../report/waiting.ts");
    return {
      json: rows,
      text: (view) => [unsettledText(rows, view), ...rows.map((row) => `\n${operationText(row, view)}`)].join("\n"),
    };
  });
}

interface SettleWords extends DecisionWords {
  applied: boolean;
  notApplied: boolean;
  run?: string | undefined;
}

/** A person's decisions on operations that reading cannot settle. Each is independent. */
async function settleCommand(invocation: Invocation, ids: readonly string[], words: SettleWords): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const by = deciderOf(words.by);
    const decisions = await decisionsOf(application, ids, words);
    const { openDecisions } = await import("../../requests/decisions.ts");
    const decide = await openDecisions(application, by, invocation.signal);
    const [single] = decisions;
    if (decisions.length !== 1 || single === undefined)
      return await settleEach(invocation, application, decisions, decide);
    const decided = await decide(single);
    return { json: decisionJson(decided), text: decided.summary };
  });
}

/** A failing decision is reported and stops no other one. The exit code is the worst. */
async function settleEach(
  { output, options: { json } }: Invocation,
  application: Application,
  decisions: readonly GivenDecision[],
  decide: (decision: GivenDecision) => Promise<Decision>,
): Promise<ExitCode> {
  const results: Json[] = [];
  const failures: Problem[] = [];
  for (const decision of decisions) {
    try {
      const decided = await decide(decision);
      results.push(decisionJson(decided));
      if (!json) output.line(`${decided.id} ${decided.endpoint} on ${printable(decided.subject)}: ${decided.summary}`);
    } catch (error) {
      if (!(error instanceof Problem) || (await application.ledger()).broken !== undefined) throw error;
      failures.push(error);
      results.push({ operation: decision.id, error: problemJson(error) });
      output.note(describeProblem(error, application.config.zone));
    }
  }
  if (json) output.json(results);
  else output.line(`${decisions.length - failures.length} of ${counted(decisions.length, "operation")} decided`);
  return failures.reduce<ExitCode>((worst, { exitCode }) => worseOf(worst, exitCode), ok);
}

async function decisionsOf(
  application: Application,
  ids: readonly string[],
  words: SettleWords,
): Promise<GivenDecision[]> {
  if (ids.length > 0 === (words.run !== undefined))
    throw usage("settle takes ids or --run RUN, one of them", "crm-sync settle --help");
  if (words.applied === words.notApplied) throw usage("settle needs one verdict", "add --applied or --not-applied");
  const reason = requireReason(words.reason);
  application.requireLedger();
  const { openOperationsOf } = await import("../../requests/decisions.ts");
  const wanted = words.run === undefined ? [...new Set(ids)] : await openOperationsOf(application, words.run);
  return wanted.map((id) => ({ id, verdict: words.applied ? "applied" : "not-applied", reason }));
}

function decisionJson(decided: Decision): JsonObject {
  const { id, state, subject, endpoint, showed } = decided;
  return { operation: id, state, subject, endpoint, showed };
}

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

interface ResolveWords extends DecisionWords {
  done?: boolean | undefined;
}

const streamOf: Readonly<Record<string, Stream>> = { customer: "customers", order: "orders", staff: "staff" };

export const addResolve: Register = (program, carryOut) => {
  program
    .command("resolve")
    .description("record that a person changed something on the platform; it counts once crm-sync has read it back")
    .argument("<record>", "customer:ALFKI, order:10248 or staff:portal/7")
    .option("--done", "a person made there the change that the CRM wants")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example('crm-sync resolve staff:S1 --done --reason "the service desk renamed the account"')}
crm-sync writes the note first, then reads the platform. Fields that agree with the CRM count as done. Fields that no
reading shows count by your word, and are marked so. If a field differs, nothing counts (exit 3).`,
    )
    .action((record, options) => carryOut((invocation) => resolveCommand(invocation, record, options)));
};

async function resolveCommand(invocation: Invocation, record: string, words: ResolveWords): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const subject = subjectIn(record, application.config.namespace);
    if (words.done !== true) throw usage("resolve needs to know which change was made", "add --done");
    const note = { subject, ...decisionOf(words) };
    application.requireLedger();
    const { resolveByHand } = await import("../../requests/resolve.ts");
    const resolved = await resolveByHand(application, note, invocation.signal);
    const counts = resolved.otherwise.length === 0;
    return {
      json: { ...resolved, counts },
      text: linesOf(resolved).map(printable).join("\n"),
      exit: counts ? ok : exitCodes.recordsRejected,
    };
  });
}

function subjectIn(text: string, namespace: string): RecordSubject {
  const colon = text.indexOf(":");
  const stream = streamOf[text.slice(0, Math.max(colon, 0))];
  if (stream !== undefined) return { stream, key: parseKey(text.slice(colon + 1), namespace) };
  throw usage(`${JSON.stringify(text)} names no record`, "write it as customer:ID, order:ID or staff:ID");
}

function linesOf({ subject, seen, unseen, otherwise }: Resolved): string[] {
  const all = seen.length + unseen.length + otherwise.length;
  const shown = `${subject}: ${seen.length} of ${all} things are shown as the CRM says`;
  if (otherwise.length > 0)
    return [`${shown}; nothing counts as agreed, because:`, ...otherwise.map((is) => `  ${is}`)];
  if (unseen.length === 0) return [`${shown}; it counts as agreed`];
  return [`${shown}; it counts as agreed, and what cannot be read back by your word alone: ${unseen.join(", ")}`];
}
