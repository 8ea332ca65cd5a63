import type { JsonObject } from "../../base/canonical-json.ts";
import { tolerancesJson, tolerancesText } from "./tolerances.ts";
import type { LocalTime } from "./local-time.ts";
import type { StatementHeader } from "./shape.ts";

/** One fact of what a statement was made from: its name for machines, its words for people, its value. */
export interface HeaderFact {
  name: string;
  title: string;
  value: string | number | boolean | null;
  /** The value is an instant in UTC. */
  instant?: true;
  /** The value is a text of lines, each ended by a line feed. */
  lines?: true;
}

/** What a statement was made from, one fact a line, in the order in which people read it. */
export function headerFacts(header: StatementHeader): HeaderFact[] {
  const { period, filters, auditHead } = header;
  return [
    fact("statement", "Statement", header.kind),
    fact("version", "Version of its columns", header.version),
    fact("period", "Period", period.label),
    { ...fact("from", "From", period.from), instant: true },
    { ...fact("to", "Up to, not included", period.to), instant: true },
    fact("zone", "Time zone", period.zone),
    ...(period.joined === true
      ? [fact("joined", "Begins where the period closed before it ended, which had another time zone", true)]
      : []),
    fact("by", "A row belongs to the period by", header.by),
    fact("source", "Only the source", filters.source ?? null),
    fact("customer", "Only the customer", filters.customer ?? null),
    fact("branch", "Only the branch", filters.branch ?? null),
    fact("product", "Only the product", filters.product ?? null),
    { ...fact("as_of", "As of", header.asOf), instant: true },
    fact("provisional", "Provisional (period not over)", header.provisional),
    fact("ledger", "Ledger", header.ledger),
    fact("audit_sequence", "Audit head: entry", auditHead?.sequence ?? null),
    { ...fact("audit_at", "Audit head: time", auditHead?.at ?? null), instant: true },
    fact("audit_hash", "Audit head: hash", auditHead?.hash ?? null),
    fact("audit_size", "Audit tree: size", auditHead?.size ?? null),
    fact("audit_root", "Audit tree: root", auditHead?.root ?? null),
    { ...fact("audit_checkpoint", "Audit head: signed", auditHead?.checkpoint ?? null), lines: true },
    fact("tolerances", "Tolerated", header.tolerances === undefined ? null : tolerancesText(header.tolerances)),
    fact("program", "Version of the program", header.program),
  ];
}

function fact(name: string, title: string, value: HeaderFact["value"]): HeaderFact {
  return { name, title, value };
}

/** The facts that are known, for people: a filter that was not set is none. */
export function knownFacts(header: StatementHeader): HeaderFact[] {
  return headerFacts(header).filter(({ value }) => value !== null);
}

/** A fact as people read it, with instants in the zone of the statement, line by line. */
export function factLines({ value, instant, lines }: HeaderFact, time: LocalTime): string[] {
  if (typeof value === "boolean") return [value ? "yes" : "no"];
  if (lines === true) return linesOf(String(value));
  return [instant === true ? time.text(String(value)) : String(value)];
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/u, "").split("\n");
}

/** The header as JSON. */
export function headerJson({ kind, filters, period, auditHead, tolerances, ...header }: StatementHeader): JsonObject {
  return {
    statement: kind,
    ...header,
    ...(tolerances !== undefined && { tolerances: tolerancesJson(tolerances) }),
    period: { ...period },
    filters: {
      source: filters.source ?? null,
      customer: filters.customer ?? null,
      branch: filters.branch ?? null,
      product: filters.product ?? null,
    },
    auditHead: auditHead === null ? null : { ...auditHead },
  };
}
