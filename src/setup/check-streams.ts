import { Problem } from "../base/errors.ts";
import type { Application } from "../operate/application.ts";
import { counted } from "../report/text.ts";
import type { Finding } from "./check.ts";
import { lookAtStream, type SampleFault, type StreamSample } from "./stream-sample.ts";

export async function sourceFindings(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const source of application.sources()) {
    const what = `source ${source.name}`;
    const problem = await source.check(signal);
    if (problem !== undefined) {
      findings.push(unreadable(what, problem));
      if (!ofOneStream.has(problem.code)) continue;
    } else findings.push({ what, good: true, kind: "source", detail: `can be read: ${source.streams.join(", ")}` });
    const settings = application.config.assumptions;
    for (const stream of source.streams) {
      const sample = await lookAtStream(source, stream, settings, signal).catch(problemOf);
      if (sample instanceof Problem) {
        if (sample.message !== problem?.message) findings.push(unreadable(`${what}, ${stream}`, sample));
      } else if (problem === undefined || sample.problem?.message !== problem.message)
        findings.push(...streamFindings(source.name, sample));
    }
    await source.endReading();
  }
  const given = application.sources().flatMap(({ streams }) => streams);
  if (given.includes("orders") && !given.includes("customers"))
    findings.push({
      what: "ordering",
      good: false,
      kind: "records",
      detail: "nothing can be ordered yet: no source has customers",
      cure: "add the stream customers to a source",
    });
  return findings;
}

/** Problems of a single list. The other lists of the source are still checked. */
const ofOneStream: ReadonlySet<string> = new Set([
  "source.error-answer",
  "source.half-written",
  "source.missing-file",
  "source.not-as-marked",
  "source.not-found",
  "source.not-json",
  "source.wrong-encoding",
  "source.wrong-query",
  "source.wrong-shape",
]);

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

function unreadable(what: string, problem: Problem): Finding {
  const { message: detail, cure, place } = problem;
  const finding: Finding = { what, good: false, kind: "source", detail, cure };
  return place === undefined ? finding : { ...finding, place };
}

/** From this share of bad rows on, the mapping is wrong, not some records. */
const mappingIsWrong = 0.5;

function streamFindings(source: string, sample: StreamSample): Finding[] {
  const { stream, rows, isAll, mapped, skipped, faults, emptyPlaces, problem } = sample;
  const what = `source ${source}, ${stream}`;
  if (problem !== undefined) return [unreadable(what, problem)];
  const cure = `\`crm-sync map ${source} ${stream}\` shows records, raw and mapped`;
  if (rows === 0) {
    const detail = "has no record at all";
    return [{ what, good: true, warning: true, kind: "records", detail, cure: "see that it is the right list" }];
  }
  const read = isAll
    ? rows === 1
      ? "the one row was read"
      : `all ${rows} rows were read`
    : `the first ${rows} rows were read`;
  const unusable = rows - mapped - skipped;
  const leftOut = skipped === 0 ? "" : `, ${counted(skipped, "row")} of them skipped`;
  const shown = faults.slice(0, mostFaults).map(faultText).join("; ");
  const more = faults.length > mostFaults ? `; and ${faults.length - mostFaults} more reasons` : "";
  const records: Finding =
    unusable === 0
      ? { what, good: true, kind: "records", detail: `${read}${leftOut}, and ${rows === 1 ? "it" : "all"} can be used` }
      : {
          what,
          good: unusable < rows * mappingIsWrong,
          ...(unusable < rows * mappingIsWrong ? { warning: true as const } : {}),
          kind: "records",
          detail: `${read}${leftOut}, and ${unusable} would be quarantined: ${shown}${more}`,
          cure,
        };
  const empty = emptyPlaces.map(({ place, fields, isMissing }): Finding => {
    const found = { what, kind: "records" } as const;
    const named = fields.join(", ");
    if (isMissing) {
      const detail = `none of ${rows} rows has ${place}, and the mapping of ${named} decides by it`;
      const absent = "if the path may be missing, add `present` or `default`";
      return { ...found, good: false, detail, cure: `correct the path; ${absent}` };
    }
    const detail = `${place} holds nothing in any of ${rows} rows; the mapping of ${named} reads it`;
    const correct = "correct the path, or leave it where the CRM may fill it later";
    return { ...found, good: true, warning: true, detail, cure: correct };
  });
  return [records, ...empty, ...idFindings(what, sample)];
}

/** Ids that are personal data appear in clear everywhere, and no erasure reaches them. */
function idFindings(what: string, { stream, personalIds, rows }: StreamSample): Finding[] {
  if (personalIds === undefined) return [];
  const { rows: found, are, expression } = personalIds;
  const others = { customers: "`customerId` of orders and staff", orders: "", staff: "" }[stream];
  return [
    {
      what,
      good: true,
      warning: true,
      kind: "records",
      detail:
        `the ids of ${found} of ${rows} rows ${are}; ids are in messages, logs and the audit log, and cannot ` +
        "be erased",
      cure:
        `before the first run, map a hashed id: \`id: {hash: ${JSON.stringify(expression)}, salt: TEXT}\`` +
        `${others === "" ? "" : `, and ${others} the same way with the same salt`}; or map another id`,
    },
  ];
}

const mostFaults = 5;

function faultText({ records, field, code, message, expected, place }: SampleFault): string {
  const where = field === "" || message.startsWith(field) ? "" : `${field}: `;
  return `${counted(records, "row")} (${code}: ${where}${message}; expected ${expected}; first at ${place})`;
}
