import type { Finding } from "./check.ts";
import { counted } from "../report/text.ts";
import type { LookedAtStream } from "./ordering.ts";
import type { StreamSample } from "./stream-sample.ts";

/** From this share of a sample on, it is the mapping that is wrong and not some records. */
const mappingIsWrong = 0.5;

/**
 * Streams most of whose records name a customer that no list of customers has, as where one says a name and the other a
 * number. Nothing where not all customers were read.
 */
export function unknownCustomers(looked: readonly LookedAtStream[]): Finding[] {
  const lists = looked.filter(({ stream }) => stream === "customers");
  const samples = lists.flatMap(({ source, sample }) =>
    sample?.isAll === true && sample.problem === undefined ? [{ source, sample }] : [],
  );
  const [first] = samples;
  if (first === undefined || samples.length < lists.length) return [];
  const known = new Set(samples.flatMap(({ sample }) => [...sample.customers.named.keys()]));
  if (known.size === 0) return [];
  return looked.flatMap(({ source, stream, sample }) => {
    if (stream === "customers" || sample === undefined) return [];
    const finding = unknownIn(sample, known);
    if (finding === undefined) return [];
    const cure =
      `\`customerId\` of ${stream} reads ${placesText(sample.customers.reads)}; \`id\` of customers (source ` +
      `${first.source}) reads ${placesText(first.sample.customers.reads)}. Map the same to both`;
    return [{ what: `source ${source}, ${stream}, customers`, kind: "records" as const, ...finding, cure }];
  });
}

function unknownIn(
  { stream, mapped, customers: { named } }: StreamSample,
  known: ReadonlySet<string>,
): Pick<Finding, "good" | "warning" | "detail"> | undefined {
  let unknown = 0;
  for (const [customer, records] of named) if (!known.has(customer)) unknown += records;
  if (mapped === 0 || unknown <= mapped * mappingIsWrong) return undefined;
  const isAll = unknown >= mapped;
  const records = counted(mapped, stream === "orders" ? "order" : "person", stream === "orders" ? "orders" : "people");
  return {
    good: !isAll,
    ...(isAll ? {} : { warning: true }),
    detail: `${isAll ? "all" : unknown} of ${records} name a customer that the list of customers does not have`,
  };
}

function placesText(places: readonly string[]): string {
  return places.length === 0 ? "a constant" : places.join(", ");
}
