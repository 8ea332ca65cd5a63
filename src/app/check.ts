import { messageOf, Problem } from "../base/errors.ts";
import type { EndpointId } from "../contract/endpoints.ts";
import type { Stream } from "../crm/model.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { signingKey } from "../ledger/audit/checkpoint.ts";
import { ReadFailure } from "../platform/call.ts";
import { counted } from "../report/text.ts";
import { formatRawPath } from "../source/mapping/path.ts";
import { outsideGroup } from "../source/source-settings.ts";
import type { SourceSettings } from "../source/source-settings.ts";
import { tellsChange } from "../source/sql/values.ts";
import type { Application } from "./application.ts";
import { ledgerFindings } from "./ledger-finding.ts";
import { readCertificate } from "./certificate.ts";
import { openMarks } from "./open-marks.ts";
import { nothingOrdered } from "./ordering.ts";
import type { LookedAtStream } from "./ordering.ts";
import type { SampleFault } from "./sample-fault.ts";
import { lookAtStream } from "./stream-sample.ts";
import type { ChangedAt, StreamSample } from "./stream-sample.ts";
import { unknownCustomers } from "./unknown-customers.ts";

/** What was looked at, and whether it is as it should be. */
export interface Finding {
  what: string;
  good: boolean;
  /** Good, and worth a look: nothing is stopped by it. */
  warning?: true;
  kind: "configuration" | "ledger" | "source" | "records" | "service" | "setting";
  detail: string;
  /** Where it is: a file with line and column, or an address. */
  place?: string;
  cure?: string;
}

/** An id that belongs to nobody: the services answer for it without showing anybody's data. */
const nobody = "crm-sync-check";
/** What an installation calls that gives people what they bought. */
export const used: readonly EndpointId[] = ["E2", "E3", "E4", "E5", "E9", "M1", "M5", "M6", "M7", "M9"];

/**
 * Looks at the configuration, the sources and the services without writing anything. Throws where the jobs cannot be
 * made of the configuration.
 */
export async function check(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [
    { what: "configuration", good: true, kind: "configuration", detail: settingsOf(application) },
    ...openMarks(application.header.file),
    ...settingFindings(application),
    ...(await ledgerFindings(application)),
    ...(await sourceFindings(application, signal)),
    ...(await serviceFindings(application, signal)),
  ];
  application.jobs();
  return findings;
}

/** Where the settings in effect come from. */
function settingsOf({ header }: Application): string {
  const presets = Object.entries(header.presets).map(([source, preset]) => `source ${source}: preset ${preset}`);
  return [header.file, ...presets].join("; ");
}

/** Settings that are missing, or are of no use as they are. */
export function settingFindings(application: Application): Finding[] {
  const { config } = application;
  const missing = new Map<string, { row: string; choices: readonly string[]; endpoints: EndpointId[] }>();
  for (const endpoint of used) {
    for (const { key, row, choices } of missingAssumptions(config.assumptions, endpoint)) {
      const known = missing.get(key);
      if (known === undefined) missing.set(key, { row, choices, endpoints: [endpoint] });
      else known.endpoints.push(endpoint);
    }
  }
  const findings = [...missing].map(([key, { row, choices, endpoints }]): Finding => ({
    what: `assumptions.${key} (${row})`,
    good: false,
    kind: "setting",
    detail: `has no value; ${endpoints.join(", ")} may need it, and what needs it is blocked until then`,
    cure: `set it to ${choices.join(" or ")}`,
  }));
  const hasStaff = Object.values(config.sources).some((source) => source.streams.staff !== undefined);
  if (hasStaff && config.ledger.sealKey === undefined) {
    findings.push({
      what: "ledger.sealKey (A30)",
      good: false,
      kind: "setting",
      detail: "has no value; staff cannot be added, because initial passwords could not be sealed",
      cure: "set it to env:NAME or file:/path of a secret, for example from `openssl rand -hex 32`",
    });
  }
  const { signKey } = config.audit;
  if (signKey !== undefined && signingKey(application.secrets.reveal(signKey)) === undefined)
    findings.push({
      what: "audit.signKey",
      good: false,
      kind: "setting",
      detail: "is no Ed25519 private key in PEM (PKCS #8); heads of the audit log cannot be signed",
      cure: "make one with `openssl genpkey -algorithm ed25519 -out audit.pem`, or take the setting away",
    });
  return [...findings, ...secretFindings(application), ...accessFindings(application)];
}

/** Secrets that crm-sync cannot keep well. */
function secretFindings({ secrets }: Application): Finding[] {
  const written = secrets.literals.map(({ key, place }): Finding => ({
    what: key,
    good: true,
    warning: true,
    kind: "setting",
    place,
    detail: "holds a secret in the file itself (its value is not shown)",
    cure: "write `env:NAME` or `file:/path` here and put it there; change the secret, since it was in a file",
  }));
  const short = secrets.short.map(({ key, place }): Finding => ({
    what: key,
    good: false,
    kind: "setting",
    place,
    detail: "names a secret of fewer than 8 characters, which crm-sync cannot tell from the words around it",
    cure: "use a longer one",
  }));
  return [...written, ...short];
}

/** What would keep people from the pages. */
function accessFindings({ config, directory, clock }: Application): Finding[] {
  const { tls } = config.serve;
  if (tls === undefined) return [];
  const bad = certificateProblem(() => readCertificate(tls, directory, clock).warning);
  if (bad === undefined) return [];
  const { place, message, cure } = bad;
  const what = place ?? "serve.tls";
  return [{ what, good: false, kind: "setting", detail: message.slice(what.length + 1), cure }];
}

function certificateProblem(read: () => Problem | undefined): Problem | undefined {
  try {
    return read();
  } catch (error) {
    return problemOf(error);
  }
}

async function sourceFindings(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  const looked: LookedAtStream[] = [];
  const orders = Object.values(application.config.sources).some(({ streams }) => streams.orders !== undefined);
  for (const source of application.sources()) {
    const what = `source ${source.name}`;
    const problem = await source.check(signal);
    if (problem !== undefined) {
      findings.push(unreadable(what, problem));
      if (!ofOneStream.has(problem.code)) {
        looked.push(...source.streams.map((stream) => ({ source: source.name, stream, sample: undefined })));
        continue;
      }
    } else findings.push({ what, good: true, kind: "source", detail: `can be read: ${source.streams.join(", ")}` });
    const settings = application.config.assumptions;
    for (const stream of source.streams) {
      const changedAt = changedAtOf(application.config.sources[source.name], stream);
      const sample = await lookAtStream(source, stream, { settings, changedAt }, signal).catch(problemOf);
      looked.push({ source: source.name, stream, sample: sample instanceof Problem ? undefined : sample });
      if (sample instanceof Problem) {
        if (sample.message !== problem?.message) findings.push(unreadable(`${what}, ${stream}`, sample));
      } else if (problem === undefined || sample.problem?.message !== problem.message)
        findings.push(...streamFindings(source.name, sample));
      findings.push(...groupFindings(source.name, stream, application.config.sources[source.name]));
      if (!(sample instanceof Problem) && orders) findings.push(...orderingFindings(source.name, sample));
    }
    await source.endReading();
  }
  findings.push(...unknownCustomers(looked));
  findings.push(...nothingOrdered(looked, application.config.assumptions));
  return findings;
}

/** What a mapping of grouped rows looks for where it cannot be. */
function groupFindings(source: string, stream: Stream, settings: SourceSettings | undefined): Finding[] {
  const mapped = settings?.streams[stream];
  if (mapped === undefined) return [];
  const { reads, has } = outsideGroup(stream, mapped);
  if (reads.length === 0) return [];
  const detail = `the mapping reads ${reads.join(", ")}, and a record of grouped rows has ${has.join(", ")} alone`;
  const cure = "`key` is what rows are grouped by; give what else all rows of a record agree on in group.fields";
  return [{ what: `source ${source}, ${stream}, grouped rows`, good: false, kind: "records", detail, cure }];
}

/** What is wrong with one list of a source and says nothing of the others, which are looked at all the same. */
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

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** Where a stream says when a record was changed; in rows that are grouped it cannot be looked for any more. */
function changedAtOf(source: SourceSettings | undefined, stream: Stream): ChangedAt | undefined {
  if (source?.kind === "sql") {
    const column = source.streams[stream]?.since?.column;
    if (column === undefined) return undefined;
    return { place: formatRawPath([column]), setting: "since.column", tells: tellsChange };
  }
  if (source?.kind !== "http") return undefined;
  const { since, group } = source.streams[stream] ?? {};
  const place = group === undefined ? since?.changedAt : undefined;
  return place === undefined ? undefined : { place, setting: "since.changedAt" };
}

function unreadable(what: string, problem: Problem): Finding {
  const { message: detail, cure, place } = problem;
  const finding: Finding = { what, good: false, kind: "source", detail, cure };
  return place === undefined ? finding : { ...finding, place };
}

/** From this share of a sample on, it is the mapping that is wrong and not some records. */
const mappingIsWrong = 0.5;

/** What the first rows of a stream say of its mapping, before a run quarantines all of them. */
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
  return [records, ...empty, ...changedAtFindings(what, sample), ...idFindings(what, sample)];
}

/** Ids that are personal data stand in clear everywhere, and no erasure reaches them. */
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

/** Customers that can be used and for whom nothing can be ordered. */
function orderingFindings(source: string, { stream, mapped, notOrderable }: StreamSample): Finding[] {
  const { records, fields } = notOrderable;
  if (records === 0) return [];
  const isNone = records >= mapped;
  const whom = isNone
    ? `nothing can be ordered yet for any of ${counted(mapped, "customer")}`
    : `nothing can be ordered for ${records} of ${counted(mapped, "customer")}`;
  return [
    {
      what: `source ${source}, ordering`,
      good: !isNone,
      ...(isNone ? {} : { warning: true as const }),
      kind: "records",
      detail: `${whom}: the mapping gives no ${fields.join(", ")}`,
      cure: `map them, or give constants; \`crm-sync map ${source} ${stream}\` shows records, raw and mapped`,
    },
  ];
}

function changedAtFindings(what: string, { changedAt, rows }: StreamSample): Finding[] {
  if (changedAt === undefined) return [];
  const { place, setting, filled, unclear } = changedAt;
  if (unclear > 0)
    return [
      {
        what,
        good: true,
        warning: true,
        kind: "records",
        detail:
          `${place} (\`${setting}\`) holds no time, date or whole number in ${unclear} of ${rows} rows: each run ` +
          "reads everything",
        cure: "name a column that tells when a row was changed, or have the query write it as YYYY-MM-DD hh:mm:ss",
      },
    ];
  if (filled === rows || (setting === "since.column" && filled > 0)) return [];
  const detail =
    filled === 0
      ? `${place} (\`${setting}\`) holds nothing in any of ${rows} rows: each run reads everything`
      : `${place} (\`${setting}\`) has a value in ${filled} of ${rows} rows: the newest of these values alone says ` +
        "from which time on changes are read";
  const cure = "correct the path, or see that a change of a record without it is found by the service all the same";
  return [{ what, good: true, warning: true, kind: "records", detail, cure }];
}

/** Most reasons of one stream that are told. */
const mostFaults = 5;

function faultText({ records, field, code, message, expected, place }: SampleFault): string {
  const where = field === "" || message.startsWith(field) ? "" : `${field}: `;
  return `${counted(records, "row")} (${code}: ${where}${message}; expected ${expected}; first at ${place})`;
}

async function serviceFindings(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const { orderService, memberCenter } = application.platform();
  const channelCode = application.config.assumptions.channelCode ?? nobody;
  const ask = async (what: string, call: () => Promise<unknown>): Promise<Finding> => {
    try {
      await call();
      return { what, good: true, kind: "service", detail: "answers" };
    } catch (error) {
      // A refusal in the service's own words shows that it is there and lets us in.
      if (
        error instanceof ReadFailure &&
        error.kind === "code" &&
        error.serviceCode !== "60000" &&
        error.serviceCode !== "60005"
      ) {
        return {
          what,
          good: true,
          kind: "service",
          detail: "answers: it refused an id that does not exist, as it should",
        };
      }
      return {
        what,
        good: false,
        kind: "service",
        detail: messageOf(error),
        ...(error instanceof Problem ? { cure: error.cure } : {}),
      };
    }
  };
  return [
    await ask("order service", () => orderService.findCustomers(channelCode, nobody, "N", { signal })),
    await ask("member-center", () => memberCenter.listAssetNumbers(nobody, { signal })),
  ];
}
