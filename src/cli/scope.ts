import type { Application } from "../operate/application.ts";
import type { Scope } from "../requests/plans.ts";
import { usage } from "../base/errors.ts";
import { parseKey } from "./keys.ts";

/** A scope as the options of a command say it. */
export interface ScopeWords {
  customer?: string | undefined;
  order?: string | undefined;
  source?: string | undefined;
  since?: string | undefined;
}

/** Reads a scope from the command line: one of customer, order, source; `--since` goes with a source. */
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
