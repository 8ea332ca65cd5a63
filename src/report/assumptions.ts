import { type Assumption, cannotBeSeen, serviceOf } from "../contract/assumptions.ts";
import { instantText, plainView, printable, section, textOf, type View } from "./text.ts";

export interface AssumptionStanding extends Omit<Assumption, "requiredBefore"> {
  standing: "assumed" | "contradicted";
  contradicted: { count: number; since: string; last: string; evidence: string; about: string[] } | null;
  /** The last contradiction that a person accepted. */
  accepted: { at: string; by: string; reason: string; evidence: string } | null;
}

export function assumptionsText(rows: readonly AssumptionStanding[], view: View = plainView): string {
  const against = rows.filter((row) => row.standing === "contradicted");
  const lines = rows.map((row) => `${row.id.padEnd(4)} ${row.kind.padEnd(11)} ${standingText(row, view)}`);
  const stopped = against.flatMap((row) => contradictionLines(row, view));
  const unobservable = rows.flatMap(({ id, contradictedBy }) =>
    contradictedBy.startsWith(cannotBeSeen) ? [`${id.padEnd(4)} ${contradictedBy.slice(cannotBeSeen.length)}`] : [],
  );
  return textOf([
    ...lines,
    "",
    `${against.length} contradicted`,
    ...(stopped.length === 0 ? [] : section("contradicted", stopped)),
    ...section("not observable", unobservable),
  ]);
}

function standingText({ kind, standing, contradicted, question }: AssumptionStanding, view: View): string {
  if (kind === "choice") return `in use: ${question}`;
  if (contradicted !== null) return `contradicted since ${instantText(contradicted.since, view)}: ${question}`;
  return `${standing}: ${question}`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function contradictionLines({ id, contradicted, stops, decidedBy }: AssumptionStanding, view: View): string[] {
  if (contradicted === null) return [];
  const { count, last, evidence, about } = contradicted;
  const setting = typeof decidedBy === "object" && "setting" in decidedBy ? decidedBy.setting : undefined;
  const isCode = id === "A2" ? "if the code is about a token, add it to" : "correct";
  const where = setting === undefined ? "" : `${isCode} ${setting}, then `;
  return [
    `${id}  ${printable(evidence)} (${times(count)}, last ${instantText(last, view)})`,
    ...(about.length === 0 ? [] : [`    about ${about.map(printable).join(", ")}`]),
    `    stops ${stops}; everything else goes on`,
    `    next: ask the operator of the ${serviceOf(id)}; ${where}crm-sync assumptions accept ${id} --reason TEXT`,
  ];
}
