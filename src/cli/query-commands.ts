import { toJson } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { ExplainFacts } from "../report/explain.ts";
import { explainText } from "../report/explain-text.ts";
import { runsText, runText } from "../report/runs.ts";
import { statusText } from "../report/status.ts";
import { explainCommand as commandOf, recordName } from "../report/text.ts";
import { operationText, quarantineListText, quarantineText, unsettledText } from "../report/waiting.ts";
import { ok, withLedger, withReader } from "./command.ts";
import type { Invocation } from "./command.ts";
import { deciderOf } from "./decider.ts";
import { parseKey, usage } from "./keys.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Retried } from "../run/retry.ts";
import { safeLines, viewOf } from "./output.ts";
import type { Workplace } from "./workplace.ts";

export async function statusCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const facts = await (await workplace.queries()).status();
    if (workplace.json) workplace.output.json(toJson(facts));
    else
      workplace.output.line(
        statusText(facts, toInstant(workplace.clock.now()), viewOf(workplace.output, workplace.config.zone)),
      );
    return ok;
  });
}

export async function runsCommand(invocation: Invocation, last: number): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const runs = await (await workplace.queries()).runs({ limit: last });
    if (workplace.json) workplace.output.json(toJson(runs));
    else workplace.output.line(runsText(runs, viewOf(workplace.output, workplace.config.zone)));
    return ok;
  });
}

export async function runShowCommand(invocation: Invocation, id: string): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const queries = await workplace.queries();
    const wanted = id === "last" ? (await queries.runs({ limit: 1 }))[0]?.id : id;
    const story = wanted === undefined ? undefined : await queries.run(wanted);
    if (story === undefined) throw notFound("run", id, "`crm-sync runs` lists them");
    if (workplace.json) workplace.output.json(toJson(story));
    else workplace.output.line(runText(story, viewOf(workplace.output, workplace.config.zone)));
    return ok;
  });
}

const streamNames: Record<string, Stream> = {
  customer: "customers",
  customers: "customers",
  order: "orders",
  orders: "orders",
  staff: "staff",
};

export async function explainCommand(invocation: Invocation, kind: string, id: string): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const stream = streamNames[kind];
    if (stream === undefined)
      throw usage(`there are no records of the kind ${JSON.stringify(kind)}`, "use customer, order or staff");
    const facts = await explained(workplace, stream, id);
    if (workplace.json) workplace.output.json(toJson(facts));
    else
      workplace.output.line(
        explainText(facts, toInstant(workplace.clock.now()), viewOf(workplace.output, workplace.config.zone)),
      );
    return isKnown(facts) || facts.dependents.length > 0 || facts.unusable.length > 0 ? ok : exitCodes.usage;
  });
}

function isKnown(facts: ExplainFacts): boolean {
  return facts.record !== null || facts.quarantine.length > 0;
}

/** The story of the record with this id, or else of the one that has it in another namespace, or that an asset number or a name belongs to. */
async function explained(workplace: Workplace, stream: Stream, text: string): Promise<ExplainFacts> {
  const queries = await workplace.queries();
  const facts = await queries.explain(stream, parseKey(text, workplace.config.namespace));
  if (isKnown(facts) || facts.dependents.length > 0 || facts.unusable.length > 0) return facts;
  const found = await queries.find(stream, text);
  const [only, ...others] = found;
  if (only === undefined) return facts;
  if (others.length > 0) {
    throw new Problem({
      code: "record.ambiguous",
      message: `${found.length} records fit: ${found.map((item) => formatKey(item.key)).join(", ")}`,
      cure: `name one: ${commandOf(stream, only.key)}`,
      exitCode: exitCodes.usage,
    });
  }
  workplace.output.note(`found by its ${only.by}: ${recordName(stream, only.key)}`);
  return await queries.explain(stream, only.key);
}

export async function quarantineListCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const rows = [...(await workplace.queries()).quarantine()];
    if (workplace.json) workplace.output.json(toJson(rows));
    else workplace.output.line(quarantineListText(rows, viewOf(workplace.output, workplace.config.zone)));
    return ok;
  });
}

export async function quarantineShowCommand(invocation: Invocation, id: string, raw: boolean): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const queries = await workplace.queries();
    const row = await queries.quarantineById(id);
    if (row === undefined) throw notFound("quarantined record", id, "`crm-sync quarantine list` lists them");
    const form = raw ? await queries.rawForm(id) : undefined;
    if (workplace.json) workplace.output.json(toJson(form === undefined ? row : { ...row, raw: form }));
    else workplace.output.line(quarantineText(row, form, viewOf(workplace.output, workplace.config.zone)));
    return ok;
  });
}

/** Maps stored raw forms anew at once. While a run is on, which may be at work on the same customers, their sources are waited for. */
export async function quarantineRetryCommand(invocation: Invocation, id: string, by?: string): Promise<ExitCode> {
  return await withLedger(invocation, async (workplace) => {
    const who = deciderOf(by);
    const ids = id === "all" ? [...(await workplace.queries()).quarantine()].map((row) => row.id) : [id];
    const ledger = await workplace.existingLedger();
    const busy = isBusy(ledger);
    const { QuarantineRetries } = await import("../run/retry.ts");
    const retries = new QuarantineRetries({
      ledger,
      sources: workplace.sources(),
      settings: workplace.config.assumptions,
    });
    const results: Retried[] = [];
    for (const one of ids) {
      if (!busy) results.push(await retries.retry(one, who));
      else if (await ledger.retryQuarantine(one, who))
        results.push({ kind: "waits-for-source", id: one, why: "a run is on" });
    }
    const found = results.filter((result) => result.kind !== "unknown");
    if (id !== "all" && found.length === 0)
      throw notFound("open quarantined record", id, "`crm-sync quarantine list` lists them");
    if (workplace.json) workplace.output.json({ results: toJson(found) });
    else if (found.length === 0) workplace.output.line("nothing waits in quarantine");
    else for (const result of found) workplace.output.line(safeLines(retriedText(result)));
    return found.some((result) => result.kind === "still-unusable") ? exitCodes.recordsRejected : ok;
  });
}

function isBusy(ledger: Ledger): boolean {
  try {
    ledger.takeRunLock();
  } catch (error) {
    if (error instanceof Problem && error.exitCode === exitCodes.runActive) return true;
    throw error;
  }
  ledger.releaseRunLock();
  return false;
}

function retriedText(result: Retried): string {
  switch (result.kind) {
    case "taken-up":
      return `${result.id}: usable now; the next run takes it up`;
    case "still-unusable":
      return `${result.id}: still not usable: ${result.message}\n  → correct the record in the CRM, or the mapping`;
    case "waits-for-source":
      return `${result.id}: not now, because ${result.why}\n  → it is mapped anew when its source is read the next time`;
    case "unknown":
      return `${result.id}: does not wait any more`;
  }
}

export async function settleListCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const queries = await workplace.queries();
    const rows = [];
    for await (const row of queries.unsettled()) rows.push(row);
    if (workplace.json) workplace.output.json(toJson(rows));
    else {
      workplace.output.line(unsettledText(rows, viewOf(workplace.output, workplace.config.zone)));
      for (const row of rows)
        workplace.output.line(`\n${operationText(row, viewOf(workplace.output, workplace.config.zone))}`);
    }
    return ok;
  });
}

function notFound(what: string, id: string, cure: string): Problem {
  return new Problem({
    code: "not-found",
    message: `there is no ${what} ${JSON.stringify(id)}`,
    cure,
    exitCode: exitCodes.usage,
  });
}
