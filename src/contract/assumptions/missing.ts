import { isJsonObject } from "../../base/canonical-json.ts";
import type { EndpointId } from "../endpoints.ts";
import { rows } from "./registry.ts";
import type { AssumptionSettings } from "../assumption-settings.ts";

/** What a payload can hold that makes a further setting necessary. */
export type PayloadUse = (typeof payloadUses)[number];
export const payloadUses = rows.list.flatMap(({ needs = [] }) => needs.flatMap(({ use }) => use ?? []));

export interface MissingAssumption {
  /** `A24`. */
  row: string;
  /** Key under `assumptions` in the configuration, with dots: `timeCodecs.productLimit`. */
  key: string;
  /** What may stand there: words to choose from, or what is asked for. */
  choices: readonly string[];
}

/**
 * The settings that an endpoint needs and that have no value. `uses` says what its payload holds; without it every use
 * counts, as for a check before anything is planned. The endpoint is blocked until the list is empty, nothing else is.
 */
export function missingAssumptions(
  settings: AssumptionSettings,
  endpoint: EndpointId,
  uses: Iterable<PayloadUse> = payloadUses,
): MissingAssumption[] {
  const used = uses instanceof Set ? uses : new Set(uses);
  const missing: MissingAssumption[] = [];
  for (const { row, path, need } of needsOf(endpoint)) {
    const { key, choices, use, unless } = need;
    if ((use !== undefined && !used.has(use)) || isSet(settings, path)) continue;
    if (unless === undefined || !isSo(settings, unless)) missing.push({ row, key, choices });
  }
  return missing;
}

/** What the rows need for an endpoint, looked up once for each. */
const needsByEndpoint = new Map<EndpointId, ReturnType<typeof needsIn>>();

function needsOf(endpoint: EndpointId): ReturnType<typeof needsIn> {
  const known = needsByEndpoint.get(endpoint) ?? needsIn(endpoint);
  needsByEndpoint.set(endpoint, known);
  return known;
}

function needsIn(endpoint: EndpointId) {
  return rows.list.flatMap(({ id, needs = [] }) =>
    needs
      .filter((need) => need.endpoints.includes(endpoint))
      .map((need) => ({ row: id, path: need.key.split("."), need })),
  );
}

/** Whether there is a value under the names of a key with dots; null is one. */
function isSet(settings: AssumptionSettings, path: readonly string[]): boolean {
  let value: unknown = settings;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value !== undefined;
}

function isSo(settings: AssumptionSettings, values: Readonly<Record<string, unknown>>): boolean {
  const all: Readonly<Record<string, unknown>> = settings;
  return Object.entries(values).every(([key, value]) => all[key] === value);
}
