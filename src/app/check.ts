import { messageOf, Problem } from "../base/errors.ts";
import type { EndpointId } from "../contract/endpoints.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { signingKey } from "../ledger/audit/checkpoint.ts";
import { ReadFailure } from "../platform/call.ts";
import type { Application } from "./application.ts";

/** What was looked at, and whether it is as it should be. */
export interface Finding {
  what: string;
  good: boolean;
  kind: "configuration" | "source" | "service" | "setting";
  detail: string;
  cure?: string;
}

/** An id that belongs to nobody: the services answer for it without showing anybody's data. */
const nobody = "crm-sync-check";
const used: readonly EndpointId[] = ["E2", "E3", "E4", "E5", "E9", "M1", "M5", "M6", "M7", "M9"];

/**
 * Looks at the configuration, the sources and the services without writing anything. Throws where the jobs cannot be
 * made of the configuration.
 */
export async function check(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [
    { what: "configuration", good: true, kind: "configuration", detail: application.header.file },
    ...settingFindings(application),
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
      detail: "is no Ed25519 private key in PEM (PKCS #8); heads of the audit record cannot be signed",
      cure: "make one with `openssl genpkey -algorithm ed25519 -out audit.pem`, or take the setting away",
    });
  return findings;
}

async function sourceFindings(application: Application, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const source of application.sources()) {
    const problem = await source.check(signal);
    findings.push(
      problem === undefined
        ? {
            what: `source ${source.name}`,
            good: true,
            kind: "source",
            detail: `can be read: ${source.streams.join(", ")}`,
          }
        : { what: `source ${source.name}`, good: false, kind: "source", detail: problem.message, cure: problem.cure },
    );
  }
  return findings;
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
          detail: `answers (${error.serviceCode ?? "a refusal"} for an id that belongs to nobody)`,
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
