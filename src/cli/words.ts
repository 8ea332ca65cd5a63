import { theCrm } from "../engine/model/requests.ts";
import { usage, exitCodes, Problem } from "../base/errors.ts";
import { systemUser } from "../base/who.ts";
import { personalIn, requireReason } from "../requests/reason.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Application } from "../operate/application.ts";
import type { Scope } from "../requests/plans.ts";

const longest = 100;

/**
 * `--by NAME`, otherwise the user of the operating system. The audit log keeps it for good, so it must be short and
 * printable. An operator's name is not private data of a customer.
 */
export function deciderOf(by: string | undefined): string {
  const name = (by ?? systemUser()).trim();
  if (name === "") throw usage("--by needs a name", "say who decides, such as --by anna.lee");
  if (name.length > longest || /[\p{C}\p{Zl}\p{Zp}]/u.test(name))
    throw usage(
      `--by takes a name of at most ${longest} printable characters`,
      "say who decides, such as --by anna.lee",
    );
  if (name === theCrm)
    throw usage(`--by ${name} would say that the CRM asked`, "say who decides, such as --by anna.lee");
  const held = by === undefined ? undefined : personalIn(name);
  if (held !== undefined)
    throw usage(`--by holds ${held.what}; ${held.means}`, "say who decides, such as --by anna.lee");
  return name;
}

/** Reads `ALFKI` or `portal/ALFKI`; without a namespace the configured default is used. */
export function parseKey(text: string, namespace: string): RecordKey {
  const slash = text.indexOf("/");
  const key = slash === -1 ? { namespace, id: text } : { namespace: text.slice(0, slash), id: text.slice(slash + 1) };
  if (key.namespace !== "" && key.id !== "") return key;
  throw usage(`${JSON.stringify(text)} is no record id`, "write it as ID, or NAMESPACE/ID");
}

export interface ScopeWords {
  customer?: string | undefined;
  order?: string | undefined;
  source?: string | undefined;
  since?: string | undefined;
}

/** Reads a scope: one of customer, order, source; `--since` needs a source. */
export function scopeOf({ config }: Pick<Application, "config">, words: ScopeWords): Scope {
  const given = [words.customer, words.order, words.source].filter((item) => item !== undefined);
  if (given.length > 1) throw usage("more than one of --customer, --order and --source was given", "give one of them");
  if (words.since !== undefined && words.source === undefined)
    throw usage("--since goes with --source", "add --source NAME");
  const { namespace } = config;
  if (words.customer !== undefined) return { customer: parseKey(words.customer, namespace) };
  if (words.order !== undefined) return { order: parseKey(words.order, namespace) };
  if (words.source === undefined) return undefined;
  if (config.sources[words.source] === undefined) {
    throw usage(`there is no source ${words.source}`, `use one of: ${Object.keys(config.sources).join(", ")}`);
  }
  if (words.since === undefined) return { source: words.source };
  if (Number.isNaN(Date.parse(words.since)))
    throw usage(`${words.since} is no time`, "write it as 2026-10-01T00:00:00Z");
  return { source: words.source, since: new Date(Date.parse(words.since)).toISOString() };
}

export function notFound(what: string, id: string, cure: string): Problem {
  return new Problem({
    code: "not-found",
    message: `there is no ${what} ${JSON.stringify(id)}`,
    cure,
    exitCode: exitCodes.usage,
  });
}

export interface DecisionWords {
  reason?: string | undefined;
  by?: string | undefined;
}

export function decisionOf(words: DecisionWords): { reason: string; by: string } {
  return { reason: requireReason(words.reason), by: deciderOf(words.by) };
}
