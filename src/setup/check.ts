import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { messageOf, Problem, problemOf } from "../base/errors.ts";
import { missingAssumptions } from "../contract/assumption-settings.ts";
import type { EndpointId } from "../contract/endpoints.ts";
import { signingKey } from "../ledger/audit/checkpoint.ts";
import { isThere, type Application } from "../operate/application.ts";
import { readCertificate } from "../operate/certificate.ts";
import { ReadFailure } from "../http/call.ts";
import { counted } from "../report/text.ts";
import { toChoose } from "../source/problems.ts";
import { sourceFindings } from "./check-streams.ts";
import { bad, doubtful, type Finding } from "./finding.ts";

/** An id that does not exist, so that services answer without personal data. */
const nobody = "crm-sync-check";
export const used: readonly EndpointId[] = ["E2", "E3", "E4", "E5", "E9", "M1", "M5", "M6", "M7", "M9"];

/** Writes nothing. Throws if the jobs cannot be built. */
export async function check(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [
    { what: "configuration", good: true, kind: "configuration", detail: application.header.file },
    ...openMarks(application.header.file),
    ...settingFindings(application),
    ...(await ledgerFindings(application)),
    ...(await sourceFindings(application, signal)),
    ...(await serviceFindings(application, signal)),
  ];
  application.jobs();
  return findings;
}

function settingFindings(application: Application): Finding[] {
  const { config } = application;
  const missing = new Map<string, { row: string; choices: readonly string[]; endpoints: EndpointId[] }>();
  for (const endpoint of used) {
    for (const { key, row, choices } of missingAssumptions(config.assumptions, endpoint)) {
      const known = missing.get(key);
      if (known === undefined) missing.set(key, { row, choices, endpoints: [endpoint] });
      else known.endpoints.push(endpoint);
    }
  }
  const findings = [...missing].map(([key, { row, choices, endpoints }]) =>
    bad(
      "setting",
      `assumptions.${key} (${row})`,
      `has no value; ${endpoints.join(", ")} may need it, and what needs it is blocked until then`,
      `set it to ${choices.join(" or ")}`,
    ),
  );
  const hasStaff = Object.values(config.sources).some((source) => source.streams.staff !== undefined);
  if (hasStaff && config.ledger.sealKey === undefined)
    findings.push(
      bad(
        "setting",
        "ledger.sealKey (A30)",
        "has no value; staff cannot be added, because initial passwords could not be sealed",
        "set it to env:NAME or file:/path of a secret, for example from `openssl rand -hex 32`",
      ),
    );
  const { signKey } = config.audit;
  if (signKey !== undefined && signingKey(application.secrets.reveal(signKey)) === undefined)
    findings.push(
      bad(
        "setting",
        "audit.signKey",
        "is no Ed25519 private key in PEM (PKCS #8); heads of the audit log cannot be signed",
        "make one with `openssl genpkey -algorithm ed25519 -out audit.pem`, or take the setting away",
      ),
    );
  return [...findings, ...secretFindings(application), ...accessFindings(application)];
}

function secretFindings({ secrets }: Application): Finding[] {
  const isWritten = "holds a secret in the file itself (its value is not shown)";
  const move = "write `env:NAME` or `file:/path` here and put it there; change the secret, since it was in a file";
  const isShort = "names a secret of fewer than 8 characters, which crm-sync cannot tell from the words around it";
  return [
    ...secrets.literals.map(({ key, place }) => ({ ...doubtful("setting", key, isWritten, move), place })),
    ...secrets.short.map(({ key, place }) => ({ ...bad("setting", key, isShort, "use a longer one"), place })),
  ];
}

function accessFindings({ config, directory, clock }: Application): Finding[] {
  const { tls } = config.serve;
  if (tls === undefined) return [];
  let problem: Problem | undefined;
  try {
    problem = readCertificate(tls, directory, clock).warning;
  } catch (error) {
    problem = problemOf(error);
  }
  if (problem === undefined) return [];
  const { place, message, cure } = problem;
  const what = place ?? "serve.tls";
  return [bad("setting", what, message.slice(what.length + 1), cure)];
}

async function serviceFindings(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const { orderService, memberCenter } = application.platform();
  const channelCode = application.config.assumptions.channelCode ?? nobody;
  const ask = async (what: string, call: () => Promise<unknown>): Promise<Finding> => {
    try {
      await call();
      return { what, good: true, kind: "service", detail: "answers" };
    } catch (error) {
      // A refusal with a service code proves that the service runs and accepts us.
      if (
        error instanceof ReadFailure &&
        error.kind === "code" &&
        error.serviceCode !== "60000" &&
        error.serviceCode !== "60005"
      )
        return {
          what,
          good: true,
          kind: "service",
          detail: "answers: it refused an id that does not exist, as it should",
        };
      const cure = error instanceof Problem ? { cure: error.cure } : {};
      return { what, good: false, kind: "service", detail: messageOf(error), ...cure };
    }
  };
  return [
    await ask("order service", () => orderService.findCustomers(channelCode, nobody, "N", { signal })),
    await ask("member-center", () => memberCenter.listAssetNumbers(nobody, { signal })),
  ];
}

/** The first run creates a missing ledger. */
async function ledgerFindings(application: Application): Promise<Finding[]> {
  if (!isThere(application.ledgerPath)) return [];
  const refused = await application.inquiry().then(() => application.refusal, problemOf);
  return refused === undefined ? [] : [bad("ledger", "ledger", refused.message, refused.cure)];
}

function openMarks(file: string): Finding[] {
  const lines = readFileSync(file, "utf8").split("\n");
  const linesOf = (isMeant: (line: string) => boolean): number[] =>
    lines.flatMap((line, index) => (isMeant(line) ? [index + 1] : []));
  const what = basename(file);
  const chosen = linesOf((line) => !/^ *#/u.test(line) && line.includes(toChoose));
  const doubts = linesOf((line) => /^ *# DOUBT: /u.test(line));
  const are = ({ length }: readonly number[]): string => (length === 1 ? "is" : "are");
  const columns = bad(
    "records",
    what,
    `${counted(chosen.length, "column")} ${are(chosen)} still to be chosen: ${toChoose} (${linesText(chosen)})`,
    "write a column in each place; the comments of its stream name those that nothing reads",
  );
  const guesses = doubtful(
    "configuration",
    what,
    `${counted(doubts.length, "guess", "guesses")} of init ${are(doubts)} still marked DOUBT (${linesText(doubts)})`,
    "correct each, and delete its comment",
  );
  return [...(chosen.length === 0 ? [] : [columns]), ...(doubts.length === 0 ? [] : [guesses])];
}

const mostLines = 20;

function linesText(lines: readonly number[]): string {
  const more = lines.length > mostLines ? ", …" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${lines.slice(0, mostLines).join(", ")}${more}`;
}
