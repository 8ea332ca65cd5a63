import type { Json } from "../base/canonical-json.ts";
import type { RecordKey } from "../crm/model.ts";
import { type View, counted, instantText, plainView, printable, section, textOf } from "./text.ts";
import { valueText } from "./runs.ts";

interface SubjectVersion {
  version: number;
  from: string;
  to: string | null;
  source: string;
  place: string;
  values: Record<string, Json>;
  erasedAt: string | null;
  /** Secrets are blanked. Null: no longer kept. */
  raw: string | null;
}

interface SubjectQuarantine {
  id: string;
  source: string;
  place: string;
  field: string;
  code: string;
  firstSeen: string;
  resolvedAt: string | null;
  raw: string | null;
}

interface SubjectOperation {
  id: string;
  kind: string;
  endpoint: string;
  service: string;
  customer: RecordKey;
  state: string;
  fields: { field: string; version: number }[];
  attempts: { at: string; outcome: string | null }[];
}

/** Everything kept about one person, or about a customer and its administrator. It contains personal data. */
export interface SubjectFacts {
  subject: string;
  record: { source: string; state: string; customer: RecordKey; firstSeen: string; changedAt: string } | null;
  versions: SubjectVersion[];
  quarantine: SubjectQuarantine[];
  operations: SubjectOperation[];
  accounts: { id: string; enterprise: string; customer: RecordKey; origin: string; from: string; to: string | null }[];
  observed: { kind: string; id: string; from: string; to: string | null; seenAt: string; body: Json }[];
  differences: { class: string; detail: string; from: string; to: string | null }[];
  assignments: { assetNumber: string; customer: RecordKey; origin: string; from: string; to: string | null }[];
  passwords: { name: string; at: string; wipedAt: string | null }[];
  /** Records of others that repeat a value of this one. Their values are not included. */
  mentions: { ref: string; version: number }[];
  repeated: { table: string; columns: readonly string[]; rows: number }[];
  /** Places outside the ledger that may contain the data. */
  beside: readonly { what: string; where: string }[];
  audit: { sequence: number; at: string; kind: string; operation: string | null }[];
}

function wordsIn(view: View) {
  const at = (instant: string): string => instantText(instant, view);
  const span = (from: string, to: string | null): string => `${at(from)} to ${to === null ? "now" : at(to)}`;
  const key = ({ namespace, id }: RecordKey): string => printable(`${namespace}/${id}`);
  return { at, span, key };
}

type Words = ReturnType<typeof wordsIn>;

export function subjectText(facts: SubjectFacts, view: View = plainView): string {
  const words = wordsIn(view);
  const { record } = facts;
  const of = record === null ? "" : `, of ${words.key(record.customer)}, from the source ${printable(record.source)}`;
  return textOf([
    `personal data of ${printable(facts.subject)}`,
    ...(record === null ? [] : [`record      ${record.state}${of}`]),
    ...facts.versions.flatMap((one) => section(`version ${one.version}`, versionLines(one, words))),
    ...section(
      "in quarantine",
      facts.quarantine.map((one) => quarantineLine(one, words)),
    ),
    ...section(
      "sent to the services",
      facts.operations.map((one) => operationLine(one, words)),
    ),
    ...platformLines(facts, words),
    ...section(
      "kept of others, with something of this in it",
      facts.mentions.map(({ ref, version }) => `${printable(ref)}, version ${version}`),
    ),
    ...section(
      "repeated by words of others",
      facts.repeated.map(
        ({ table, columns, rows }) =>
          `${columns.map((column) => `${table}.${column}`).join(", ")}: ${counted(rows, "row")}`,
      ),
    ),
    ...section(
      "what may hold it beside the ledger",
      facts.beside.map(({ what, where }) => `${what}: ${where}`),
    ),
    ...section(
      "audit log",
      facts.audit.map(({ sequence, at, kind, operation }) =>
        [sequence, words.at(at), printable(kind), operation ?? ""].join("  ").trimEnd(),
      ),
    ),
  ]);
}

function platformLines(
  { accounts, observed, differences, assignments, passwords }: SubjectFacts,
  words: Words,
): string[] {
  const { at, span, key } = words;
  return [
    ...section(
      "on the platform",
      accounts.map(
        ({ id, enterprise, customer, origin, from, to }) =>
          `${printable(`${id} in the enterprise ${enterprise}`)} of ${key(customer)} (${origin}), ${span(from, to)}`,
      ),
    ),
    ...section(
      "what the platform showed",
      observed.map(
        ({ kind, id, from, to, body }) => `${kind} ${printable(id)}, ${span(from, to)}: ${printable(valueText(body))}`,
      ),
    ),
    ...section(
      "differences",
      differences.map((one) => `${one.class}, ${span(one.from, one.to)}: ${printable(one.detail)}`),
    ),
    ...section(
      "assets held",
      assignments.map(
        ({ assetNumber, customer, origin, from, to }) =>
          `${assetNumber} of ${key(customer)} (${origin}), ${span(from, to)}`,
      ),
    ),
    ...section(
      "sealed passwords, which nobody is shown",
      passwords.map(
        ({ name, at: since, wipedAt }) =>
          `${printable(name)}, ${at(since)}${wipedAt === null ? "" : `, wiped ${at(wipedAt)}`}`,
      ),
    ),
  ];
}

function versionLines(
  { from, to, source, place, values, erasedAt, raw }: SubjectVersion,
  { span, at }: Words,
): string[] {
  return [
    `${span(from, to)}, from ${printable(`${source} ${place}`)}`,
    ...(erasedAt === null ? [] : [`erased ${at(erasedAt)}`]),
    ...Object.entries(values).map(([name, value]) => `${printable(name)}: ${printable(valueText(value))}`),
    `as it came: ${raw === null ? "not kept" : printable(raw)}`,
  ];
}

function quarantineLine({ id, source, place, field, code, raw, ...row }: SubjectQuarantine, { span }: Words): string {
  const what = `${id}: ${printable(`${source} ${place}, ${field}`)} (${code}), ${span(row.firstSeen, row.resolvedAt)}`;
  return `${what}; as it came: ${raw === null ? "erased, or kept no longer" : printable(raw)}`;
}

function operationLine(
  { id, endpoint, kind, service, state, fields, attempts }: SubjectOperation,
  { at }: Words,
): string {
  const sent = attempts.map((one) => `${at(one.at)} ${one.outcome ?? "no outcome"}`).join(", ");
  const names = fields.map(({ field, version }) => `${field} of version ${version}`).join(", ");
  return printable(
    `${id}: ${kind} (${endpoint}) to the ${service}, ${state}; ${sent === "" ? "never sent" : sent}` +
      (names === "" ? "" : `; with ${names}`),
  );
}
