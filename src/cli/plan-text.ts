import { isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import { isPrivateMarker, isReference, knownAfter } from "../operation/references.ts";
import type { Operation } from "../operation/operation.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { safeLines } from "./output.ts";

/**
 * A payload as a person reads it: references say when they become known, private values say only that they are there.
 */
function value(item: Json | undefined): string {
  if (item === undefined || item === null) return "none";
  if (isReference(item)) return `(known after ${knownAfter[item.$ref]})`;
  if (isPrivateMarker(item)) return `(private, version ${item.version})`;
  if (typeof item === "object" && !Array.isArray(item) && typeof item["$initialPassword"] === "string")
    return "(generated)";
  if (Array.isArray(item)) return item.length === 0 ? "none" : `[${item.map(value).join(", ")}]`;
  if (typeof item === "object") {
    return `{${Object.entries(item)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${key}: ${value(member)}`)
      .join(", ")}}`;
  }
  return String(item);
}

function fields(operation: Operation): string[] {
  return Object.entries(operation.payload)
    .filter(([, item]) => item !== undefined)
    .flatMap(([key, item]) => {
      if (key === "orderList" && Array.isArray(item))
        return item.map((record, index) => `orderList[${index}]: ${orderRecord(record)}`);
      return [`${key}: ${value(item)}`];
    });
}

function orderRecord(record: Json): string {
  if (!isJsonObject(record) || !Array.isArray(record["assets"])) return value(record);
  const assets = record["assets"].map((asset) => {
    if (!isJsonObject(asset)) return value(asset);
    const products = Array.isArray(asset["products"]) ? asset["products"].length : 0;
    const packages = Array.isArray(asset["merchandises"]) ? asset["merchandises"].length : 0;
    return `asset ${value(asset["assetNos"])} with ${products} product(s)${packages === 0 ? "" : ` and ${packages} package(s)`}`;
  });
  return `${value(record["licenseType"])} for customer ${value(record["customerId"])}: ${assets.join("; ")}`;
}

/** One customer's plan for people. */
export function planText(plan: CustomerPlan): string {
  const lines: string[] = [`customer ${formatKey(plan.customer)}`];
  for (const operation of plan.operations) {
    lines.push(
      `  ${operation.takesAway > 0 ? "−" : "+"} ${operation.endpoint} ${operation.subject}: ${operation.reason}`,
    );
    for (const field of fields(operation)) lines.push(`      ${field}`);
  }
  for (const change of plan.learned) {
    if (change.type === "linked") lines.push(`  = adopts the enterprise ${change.link.enterpriseGlobalId}`);
    if (change.type === "order-placed")
      lines.push(
        `  = takes the order ${formatKey(change.order)} for placed: the platform shows all of it under the channel order number ${change.channelOrderId}`,
      );
  }
  for (const record of plan.records) {
    if (record.outcome !== "planned")
      lines.push(`  … ${record.stream} ${formatKey(record.key)} ${record.outcome}: ${record.reason ?? ""}`);
  }
  return safeLines(lines.join("\n"));
}
