import { isJsonObject, toJson } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { hiddenSecret } from "../base/known-secrets.ts";
import { QuarantineRetries } from "../ingest/retry.ts";
import type { Retried } from "../ingest/retry.ts";
import type { QuarantineGroup } from "../inquiry/quarantine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "../operate/application.ts";
import type { QuarantineFacts } from "../report/facts.ts";

/** Which rows of the quarantine are mapped anew: one by its id, all, or those that wait for one reason after a row. */
type ChosenRows = string | { group: QuarantineGroup | undefined; after?: RowBefore | undefined; limit: number };
export type RowBefore = Pick<QuarantineFacts, "firstSeen" | "id">;

/**
 * Maps the stored raw form of one row of the quarantine, of `all`, or of at most so many of a group anew at once. No
 * run is on meanwhile; while one is, which may be at work on the same customers, their sources are waited for. Gives
 * what became of those that still waited.
 */
export async function retryQuarantine(application: Application, chosen: ChosenRows, by: string): Promise<Retried[]> {
  const ids = await chosenIds(application, chosen);
  const ledger = await application.existingLedger();
  const results = isBusy(ledger) ? await leave(ledger, ids, by) : await mapAnew(application, ledger, ids, by);
  return results.filter((result) => result.kind !== "unknown");
}

async function chosenIds(application: Application, chosen: ChosenRows): Promise<string[]> {
  if (chosen !== "all" && typeof chosen === "string") return [chosen];
  const inquiry = await application.inquiry();
  if (chosen !== "all" && chosen.group !== undefined) {
    const { group, after, limit } = chosen;
    return (await inquiry.quarantineOfGroup(group, { after, limit })).map((row) => row.id);
  }
  const filter = chosen === "all" ? {} : { limit: chosen.limit };
  return [...inquiry.quarantine(filter)].map((row) => row.id);
}

/** The run that is on reads the sources, and may be at work on the same customers. */
async function leave(ledger: Ledger, ids: readonly string[], by: string): Promise<Retried[]> {
  const results: Retried[] = [];
  for (const id of ids)
    if (await ledger.records.retry.mark(id, by)) results.push({ kind: "waits-for-source", id, why: "a run is on" });
  return results;
}

/** Maps the rows under the run lock, and releases it. */
async function mapAnew(
  application: Application,
  ledger: Ledger,
  ids: readonly string[],
  by: string,
): Promise<Retried[]> {
  const results: Retried[] = [];
  try {
    const sources = application.sources();
    const retries = new QuarantineRetries({ ledger, sources, settings: application.config.assumptions });
    for (const one of ids) results.push(await retries.retry(one, by));
    return results;
  } finally {
    ledger.runs.releaseLock();
  }
}

/** Whether a run is on; where none is, the lock is held from now on. */
function isBusy(ledger: Ledger): boolean {
  try {
    ledger.runs.takeLock();
    return false;
  } catch (error) {
    if (error instanceof Problem && error.exitCode === exitCodes.runActive) return true;
    throw error;
  }
}

/** What the mapping of now says of a field, and where it stands. */
interface FailedMapping {
  /** `sources.erp.streams.orders.mapping.amount`. */
  key: string;
  place: string | undefined;
  expression: Json;
}

/**
 * The part of the mapping that a row in quarantine failed at: that of its field, or of the nearest thing around it.
 * Undefined where its stream is not configured any more, or has no mapping of its own.
 */
export function failedMapping(
  application: Pick<Application, "config" | "writtenAt" | "secrets">,
  { source, stream, field }: Pick<QuarantineFacts, "source" | "stream" | "field">,
): FailedMapping | undefined {
  const { sources } = application.config;
  const settings: Json = Object.hasOwn(sources, source) ? toJson(sources[source]) : null;
  const path = ["streams", stream, "mapping"];
  const mapping = path.reduce<Json>((value, step) => memberOf(value, step) ?? null, settings);
  if (mapping === null) return undefined;
  const found = nearest(
    mapping,
    field.split(/[.[\]]+/u).filter((step) => step !== "" && !/^\d+$/u.test(step)),
  );
  const way = ["sources", source, ...path, ...found.path];
  return {
    key: way.join("."),
    place: application.writtenAt(way),
    expression: withoutSalts(application.secrets.known.tree(found.value)),
  };
}

/** With the salt of an id, who may not see logins or addresses could try which of them are known. */
function withoutSalts(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSalts);
  if (!isJsonObject(value)) return value;
  const isHash = Object.hasOwn(value, "hash");
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isHash && name === "salt" ? hiddenSecret : withoutSalts(member ?? null),
    ]),
  );
}

/** As deep as the names of the field lead; what an operator has around them is gone through. */
function nearest(mapping: Json, steps: readonly string[]): { value: Json; path: string[] } {
  let value = mapping;
  const path: string[] = [];
  for (const step of steps) {
    const next = memberOf(value, step);
    const inner = next === undefined ? insideOperator(value, step) : { value: next, path: [step] };
    if (inner === undefined) break;
    ({ value } = inner);
    path.push(...inner.path);
  }
  return { value, path };
}

function insideOperator(value: Json, step: string): { value: Json; path: string[] } | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = memberOf(member ?? null, step);
    if (found !== undefined) return { value: found, path: [name, step] };
  }
  return undefined;
}

function memberOf(value: Json, step: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
