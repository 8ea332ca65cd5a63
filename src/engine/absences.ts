import { toInstant } from "../base/clock.ts";
import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import { absentKind } from "../ledger/state/observations.ts";
import type { Absences } from "../ledger/state/observations.ts";
import { handedIn } from "./model/registry.ts";
import type { AbsentOf } from "./model/resource.ts";
import type { CustomerInput } from "./plan/input.ts";
import type { CustomerState, EngineDependencies } from "./customer.ts";
import { settleTimeLeft } from "./settle-time.ts";

type Dependencies = Pick<EngineDependencies, "ledger" | "settings" | "policies" | "clock" | "time" | "settle">;

/** Names that count as gone, by order; and when to read M7 again for missing names that do not count as gone yet. */
interface Counted {
  gone: Map<string, ReadonlySet<string>>;
  again: string | undefined;
}

/**
 * Counts one reading of M7 for things that should be removed and that it left out. As for an operation in doubt, a
 * thing counts as gone once `settle.readings` readings over the settle time left it out. Readings within that time
 * count as one together. If M7 shows the thing again, or the CRM changes its order, the count starts again.
 */
export async function countAbsences(deps: Dependencies, knows: CustomerState, input: CustomerInput): Promise<Counted> {
  const counted: Counted = { gone: new Map(), again: undefined };
  const absents = handedIn().resources.flatMap((resource) => [...(resource.absent?.(input, deps) ?? [])]);
  for (const [order, absent] of absents) {
    const earlier = await deps.ledger.state.absences(input.customer, order);
    if (earlier === undefined && absent.names.length === 0) continue;
    const next = await countOne(deps, counted, `${formatKey(input.customer)} ${order}`, { ...absent, earlier });
    counted.gone.set(order, next.gone);
    const body = toJson(next.absences);
    if (!knows.keeps || (earlier !== undefined && canonicalJson(toJson(earlier)) === canonicalJson(body))) continue;
    await knows.record([{ type: "observed", customer: input.customer, kind: absentKind, subject: order, body }]);
  }
  return counted;
}

async function countOne(
  deps: Dependencies,
  counted: Counted,
  subject: string,
  { form, names, earlier }: AbsentOf & { earlier: Absences | undefined },
): Promise<{ absences: Absences; gone: Set<string> }> {
  const { clock, settle } = deps;
  const absences: Absences = { form, left: {} };
  const gone = new Set<string>();
  for (const name of names) {
    const before = earlier?.form === form ? earlier.left[name] : undefined;
    const since = before?.since ?? toInstant(clock.now());
    const left = await settleTimeLeft(deps, `absent ${subject} ${form} ${name} ${since}`, Date.parse(since));
    const readings = before === undefined ? 1 : Math.min(settle.readings, before.readings + (left > 0 ? 0 : 1));
    absences.left[name] = { since, readings };
    if (left === 0 && readings >= settle.readings) {
      gone.add(name);
      continue;
    }
    const pause = left > 0 ? left : Math.ceil(settle.timeMs / Math.max(1, settle.readings));
    const until = toInstant(clock.now() + pause);
    if (counted.again === undefined || until < counted.again) counted.again = until;
  }
  return { absences, gone };
}
