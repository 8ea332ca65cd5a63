import { Problem, problemOf } from "../base/errors.ts";
import type { Application } from "../operate/application.ts";
import { counted } from "../report/text.ts";
import { bad, doubtful, type Finding } from "./finding.ts";
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
    findings.push(
      bad(
        "records",
        "ordering",
        "nothing can be ordered yet: no source has customers",
        "add the stream customers to a source",
      ),
    );
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

function unreadable(what: string, { message, cure, place }: Problem): Finding {
  return { ...bad("source", what, message, cure), ...(place === undefined ? {} : { place }) };
}

/** From this share of bad rows on, the mapping is wrong, not some records. */
const mappingIsWrong = 0.5;

function streamFindings(source: string, sample: StreamSample): Finding[] {
  const { stream, rows, isAll, mapped, skipped, faults, emptyPlaces, problem } = sample;
  const what = `source ${source}, ${stream}`;
  if (problem !== undefined) return [unreadable(what, problem)];
  const cure = `\`crm-sync map ${source} ${stream}\` shows records, raw and mapped`;
  if (rows === 0) return [doubtful("records", what, "has no record at all", "see that it is the right list")];
  const read = isAll
    ? rows === 1
      ? "the one row was read"
      : `all ${rows} rows were read`
    : `the first ${rows} rows were read`;
  const unusable = rows - mapped - skipped;
  const leftOut = skipped === 0 ? "" : `, ${counted(skipped, "row")} of them skipped`;
  const shown = faults.slice(0, mostFaults).map(faultText).join("; ");
  const more = faults.length > mostFaults ? `; and ${faults.length - mostFaults} more reasons` : "";
  const quarantined = `${read}${leftOut}, and ${unusable} would be quarantined: ${shown}${more}`;
  const isFew = unusable < rows * mappingIsWrong;
  const records: Finding =
    unusable === 0
      ? { what, good: true, kind: "records", detail: `${read}${leftOut}, and ${rows === 1 ? "it" : "all"} can be used` }
      : (isFew ? doubtful : bad)("records", what, quarantined, cure);
  const empty = emptyPlaces.map(({ place, fields, isMissing }): Finding => {
    const named = fields.join(", ");
    return isMissing
      ? bad(
          "records",
          what,
          `none of ${rows} rows has ${place}, and the mapping of ${named} decides by it`,
          "correct the path; if the path may be missing, add `present` or `default`",
        )
      : doubtful(
          "records",
          what,
          `${place} holds nothing in any of ${rows} rows; the mapping of ${named} reads it`,
          "correct the path, or leave it where the CRM may fill it later",
        );
  });
  return [records, ...empty, ...idFindings(what, sample)];
}

/** Ids that are personal data appear in clear everywhere, and no erasure reaches them. */
function idFindings(what: string, { stream, personalIds, rows }: StreamSample): Finding[] {
  if (personalIds === undefined) return [];
  const { rows: found, are, expression } = personalIds;
  const others = { customers: "`customerId` of orders and staff", orders: "", staff: "" }[stream];
  return [
    doubtful(
      "records",
      what,
      `the ids of ${found} of ${rows} rows ${are}; ids are in messages, logs and the audit log, and cannot be erased`,
      `before the first run, map a hashed id: \`id: {hash: ${JSON.stringify(expression)}, salt: TEXT}\`` +
        `${others === "" ? "" : `, and ${others} the same way with the same salt`}; or map another id`,
    ),
  ];
}

const mostFaults = 5;

function faultText({ records, field, code, message, expected, place }: SampleFault): string {
  const where = field === "" || message.startsWith(field) ? "" : `${field}: `;
  return `${counted(records, "row")} (${code}: ${where}${message}; expected ${expected}; first at ${place})`;
}
