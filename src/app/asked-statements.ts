import { usage } from "../base/errors.ts";
import { statements } from "../inquiry/statement/statement.ts";
import type { StatementKind } from "../inquiry/statement/statement.ts";
import { parsePeriod } from "../report/statement/period.ts";
import { requireStatementFormat, statementFormats } from "../report/statement/render.ts";
import type { StatementFormat } from "../report/statement/render.ts";
import { fileNameOf } from "../report/statement/writer.ts";
import type { LongRead } from "./long-reads.ts";
import { statementKind } from "./report-files.ts";

/** A statement as pages offer it. */
export interface OfferedStatement {
  kind: string;
  title: string;
  about: string;
  /** The tables that it has; in CSV each is a file of its own. */
  parts: { name: string; title: string }[];
}

export const offeredFormats: readonly string[] = statementFormats;

/** The statements that pages offer. */
export function offeredStatements(): OfferedStatement[] {
  return Object.entries(statements).map(([kind, { shape }]) => ({
    kind,
    title: shape.title,
    about: shape.about,
    parts: shape.parts.map(({ name, title }) => ({ name, title })),
  }));
}

/** Formats in which each part of a statement is a file of its own. */
export function isOfParts(format: string): boolean {
  return format === "csv";
}

/** What was asked for of a statement, checked, and how a process of its own is asked for it. */
export interface AskedStatement {
  kind: StatementKind;
  format: StatementFormat;
  /** The name that its file gets where it is saved. */
  name: string;
  read: Pick<LongRead, "what" | "words">;
}

/** Throws a usage Problem for a period, a kind, a format or a part that there is not. */
export function askedStatement(
  zone: string,
  {
    period,
    kind: named,
    format: asked,
    part,
  }: Record<"period" | "kind" | "format", string> & { part?: string | undefined },
): AskedStatement {
  parsePeriod(period, zone);
  const kind = statementKind(named);
  const format = requireStatementFormat(asked);
  const parts = statements[kind].shape.parts.map(({ name }) => name);
  if (part !== undefined && !parts.some((one) => one === part))
    throw usage(`${kind} has no part ${JSON.stringify(part)}`, `use one of: ${parts.join(", ")}`);
  const ofPart = part === undefined || part === parts[0] ? [] : ["--part", part];
  return {
    kind,
    format,
    name: fileNameOf(`${kind}-${period}.${format}`, ofPart[1] ?? ""),
    read: {
      what: `the statement ${kind} of ${period}`,
      words: ["report", kind, `--period=${period}`, `--format=${format}`, ...ofPart],
    },
  };
}
