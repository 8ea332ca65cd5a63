import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import type { Finding } from "./check.ts";
import type { StreamSample } from "./stream-sample.ts";

/** The sample of a stream of a source; undefined: it cannot be read. */
export interface LookedAtStream {
  source: string;
  stream: StreamSample["stream"];
  sample: StreamSample | undefined;
}

/** A reason why nothing can be ordered, and what helps. */
interface Reason {
  why: string;
  cure: string;
  kind: Finding["kind"];
}

/** That no order of any customer can be placed as things are, and all reasons; nothing where one can be. */
export function nothingOrdered(looked: readonly LookedAtStream[], settings: AssumptionSettings): Finding[] {
  const orders = looked.filter(({ stream }) => stream === "orders");
  if (orders.length === 0) return [];
  const customers = looked.filter(({ stream }) => stream === "customers");
  const reasons = [...settingReasons(settings), ...customerReasons(customers), ...orderReasons(orders)];
  const [first] = reasons;
  if (first === undefined) return [];
  return [
    {
      what: "ordering",
      good: false,
      kind: first.kind,
      detail: `nothing can be ordered yet: ${reasons.map(({ why }) => why).join("; ")}`,
      cure: reasons.map(({ cure }) => cure).join("; "),
    },
  ];
}

/** Settings without which no order is sent, whatever is in it. */
function settingReasons(settings: AssumptionSettings): Reason[] {
  const endpoints = ["E3", "E5", "E9"] as const;
  const missing = new Map(
    endpoints.flatMap((endpoint) =>
      missingAssumptions(settings, endpoint, []).map(({ key, row }) => [`assumptions.${key}`, row] as const),
    ),
  );
  if (missing.size === 0) return [];
  const keys = [...missing].map(([key, row]) => `${key} (${row})`);
  const why = `${keys.join(" and ")} ${keys.length === 1 ? "has" : "have"} no value`;
  return [{ why, cure: `set ${[...missing.keys()].join(" and ")}`, kind: "setting" }];
}

function customerReasons(customers: readonly LookedAtStream[]): Reason[] {
  if (customers.length === 0)
    return [{ why: "no source has customers", cure: "add the stream customers to a source", kind: "records" }];
  const samples = readable(customers);
  if (samples.length < customers.length) return [];
  if (samples.some(({ sample }) => sample.mapped > sample.notOrderable.records)) return [];
  return samples.filter(hasRecords).map(({ source, sample }): Reason => {
    const mapping = `sources.${source}.streams.customers.mapping`;
    const fields = sample.notOrderable.fields.join(", ");
    if (fields === "") return unusable("customer", source, mapping);
    const why = `customers have no ${fields}`;
    return { why, cure: `add ${fields} to ${mapping}`, kind: "records" };
  });
}

function orderReasons(orders: readonly LookedAtStream[]): Reason[] {
  const samples = readable(orders);
  if (samples.length < orders.length || samples.some(({ sample }) => sample.mapped > 0)) return [];
  return samples
    .filter(hasRecords)
    .map(({ source }) => unusable("order", source, `sources.${source}.streams.orders.mapping`));
}

/** Those that could be read; of the others, nobody knows what they hold. */
function readable(looked: readonly LookedAtStream[]): { source: string; sample: StreamSample }[] {
  return looked.flatMap(({ source, sample }) =>
    sample?.problem === undefined && sample !== undefined ? [{ source, sample }] : [],
  );
}

/** Whether a list has rows that are not skipped: an empty list, or one of quotes alone, is no mistake. */
function hasRecords({ sample: { rows, skipped } }: { sample: StreamSample }): boolean {
  return rows > skipped;
}

function unusable(record: string, source: string, mapping: string): Reason {
  return {
    why: `no ${record} of the source ${source} can be used`,
    cure: `correct ${mapping}, as said above`,
    kind: "records",
  };
}
