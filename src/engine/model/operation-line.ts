import type { RecordKey } from "../../crm/model.ts";
import { counted, printable } from "../../report/text.ts";
import type { Operation } from "./operation.ts";
import { typeOf } from "./registry.ts";
import type { OperationName } from "./resource.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { isPrivateMarker, isReference, knownAfter } from "./references.ts";

/** Gives only the names that this reader may see. Every text is safe on a terminal. */
export interface Called {
  record(key: RecordKey): string;
  /** The current or former name, found by its commitment. Undefined for a person or an unknown name. */
  company(customer: RecordKey, commitment?: string): Promise<string | undefined>;
  /** Takes an asset number, or the name of a unit without a number. */
  productsOf(asset: string): Promise<readonly string[]>;
  productsIn(order: RecordKey, instanceId: string): Promise<readonly string[]>;
}

export interface OperationLine {
  sign: "+" | "~" | "−";
  text: string;
}

const mostNamed = 3;

export async function operationLine<K extends OperationName>(
  operation: Operation<K> & { kind: K },
  called: Called,
): Promise<OperationLine> {
  const { sign, text } = (await typeOf(operation).can.prints?.line?.(operation, called)) ?? changes(operation.kind);
  return { sign, text: printable(text) };
}

export const adds = (text: string): OperationLine => ({ sign: "+", text });
export const changes = (text: string): OperationLine => ({ sign: "~", text });
export const removes = (text: string): OperationLine => ({ sign: "−", text });

export class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  text(): string {
    const all = [...this.#counts].map(([name, count]) => `${count} × ${name}`);
    const rest = all.length - mostNamed;
    return rest > 0 ? `${all.slice(0, mostNamed).join(", ")} and ${counted(rest, "other product")}` : all.join(", ");
  }
}

export async function assetsText(assets: readonly string[], called: Called): Promise<string> {
  const counts = new Counts();
  for (const asset of assets) {
    const products = await called.productsOf(asset);
    counts.add(products.length === 0 ? "asset" : named(products, " + "));
  }
  return counts.text();
}

export async function numbered(numbers: readonly string[], called: Called): Promise<string> {
  const texts: string[] = [];
  for (const number of numbers.slice(0, mostNamed)) {
    const products = await called.productsOf(number);
    texts.push(products.length === 0 ? number : `${number} (${named(products, " + ")})`);
  }
  return named(texts, ", ", numbers.length);
}

export function named(texts: readonly string[], between = ", ", count = texts.length): string {
  const rest = count - mostNamed;
  return `${texts.slice(0, mostNamed).join(between)}${rest > 0 ? ` and ${rest} more` : ""}`;
}

export function nameOf([record]: readonly RecordKey[], called: Called): string {
  return record === undefined ? "" : called.record(record);
}

export function peopleOf(records: readonly (RecordKey & { stream: string })[], called: Called): string[] {
  return records.filter(({ stream }) => stream === "staff").map((key) => called.record(key));
}

export function shown(item: Json | undefined): string {
  if (item === undefined || item === null) return "none";
  if (isReference(item)) return `(known after ${knownAfter[item.$ref]})`;
  if (isPrivateMarker(item)) return `(private, version ${item.version})`;
  if (typeof item === "object" && !Array.isArray(item) && isMade(item)) return "(generated)";
  if (Array.isArray(item)) return item.length === 0 ? "none" : `[${repeated(item.map(shown)).join(", ")}]`;
  if (typeof item === "object") {
    return `{${Object.entries(item)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${key}: ${shown(member)}`)
      .join(", ")}}`;
  }
  return String(item);
}

function repeated(texts: readonly string[]): string[] {
  const runs: { text: string; count: number }[] = [];
  for (const text of texts) {
    const last = runs.at(-1);
    if (last?.text === text) last.count += 1;
    else runs.push({ text, count: 1 });
  }
  return runs.map(({ text, count }) => (count === 1 ? text : `${count} × ${text}`));
}

function isMade(item: JsonObject): boolean {
  return typeof item["$initialPassword"] === "string" || typeof item["$newPassword"] === "string";
}

export function fieldLines(payload: JsonObject): string[] {
  return Object.entries(payload)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${key}: ${shown(item)}`);
}

/** The smallest numbers that count as seconds and milliseconds since 1970. A date such as 20261129 is smaller. */
const [leastSeconds, leastMs] = [1e9, 1e11];

export function shownTime(time: string | number | null): string {
  if (typeof time !== "number" || time < leastSeconds) return shown(time);
  return Temporal.Instant.fromEpochMilliseconds(time < leastMs ? time * 1_000 : time).toString();
}

export function payloadLines(operation: Operation): string[] {
  return typeOf(operation).can.prints?.payload?.(operation) ?? fieldLines(operation.payload);
}
