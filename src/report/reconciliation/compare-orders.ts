import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import type { NumberedItem } from "../../crm/order-items.ts";
import {
  about,
  isSince,
  isWithin,
  notRead,
  sentSince,
  verdictCounts,
  waitNote,
  whyNot,
  worstOf,
  type Comparison,
  type CustomerCase,
  type Judgement,
  type OrderCase,
  type PlacedItem,
  type Purchase,
  type ReconciliationView,
  type SentItem,
  type ShownItem,
} from "./case.ts";

interface Sides {
  id: string;
  assetNumber: string | null;
  licenseType: string;
  wanted: NumberedItem | undefined;
  placed: PlacedItem | undefined;
  sent: SentItem | undefined;
  shown: ShownItem | undefined;
}

const itemsOf = { product: "products", package: "packages" } as const;

/** Every order of a customer with its products and packages, then other items of the platform. */
export function orderRows(item: CustomerCase, view: ReconciliationView): Comparison[] {
  const rows: Comparison[] = [];
  const met = { product: new Set<string>(), package: new Set<string>() };
  for (const order of item.orders) {
    const parts = [
      ...itemRows(item, order, "product", met.product, view),
      ...itemRows(item, order, "package", met.package, view),
    ];
    const summary = orderSummary(order, parts);
    if (summary !== undefined) rows.push(summary, ...parts);
  }
  const ours = new Set(item.orders.flatMap(({ numbers }) => numbers));
  for (const level of ["product", "package"] as const) {
    for (const [subject, shown] of item.shown[itemsOf[level]]) {
      if (!met[level].has(subject)) rows.push(strayRow(level, subject, shown, ours));
    }
  }
  return rows;
}

/** It matches if all its parts match. Undefined for an unwanted order that was never placed or no longer exists. */
function orderSummary(order: OrderCase, parts: readonly Comparison[]): Comparison | undefined {
  const wanted = isWanted(order);
  if (!wanted && (order.placed === null || (order.isOver === true && parts.length === 0))) return undefined;
  const verdicts = parts.map(({ verdict }) => verdict);
  const seen = parts.flatMap((part) => (part.seenAt === undefined || part.seenAt === null ? [] : [part.seenAt])).sort();
  return {
    ...about(order, parts),
    level: "order",
    verdict: parts.length === 0 ? (order.placed === null ? "missing" : "not-observable") : worstOf(verdicts),
    inCrm: wanted,
    sent: order.placed !== null,
    shown: parts.some((part) => part.shown === true) ? true : parts.some((part) => part.shown === null) ? null : false,
    details: [...(order.placed === null ? [whyNot(order.crm)] : waitNote(order.crm)), ...verdictCounts(verdicts)],
    seenAt: seen[0] ?? null,
  };
}

function isWanted(order: OrderCase): boolean {
  return order.crm !== null && order.crm.state !== "absent" && !order.cancelled;
}

function boughtBy({ channelOrderId, operationId, at }: Purchase): Partial<Comparison> {
  return { channelOrderId, at, ...(operationId !== null && { operationId }) };
}

function itemRows(
  item: CustomerCase,
  order: OrderCase,
  level: "product" | "package",
  met: Set<string>,
  view: ReconciliationView,
): Comparison[] {
  const sides = sidesOf(order[itemsOf[level]], isWanted(order));
  const shownItems = item.shown[itemsOf[level]];
  const rows: Comparison[] = [];
  for (const side of sides) {
    const subject = side.assetNumber === null ? undefined : `${side.assetNumber}/${side.id}`;
    const shown = subject === undefined ? undefined : shownItems.get(subject);
    if (subject !== undefined && shown !== undefined) met.add(subject);
    rows.push(compare(item, order, level, { ...side, shown }, view));
  }
  return rows;
}

function sidesOf(items: OrderCase["products"], wanted: boolean): Omit<Sides, "shown">[] {
  const sides = new Map<string, Omit<Sides, "shown">>();
  const at = (
    part: { id: string; assetNumber: string | null; licenseType: string },
    key: string,
  ): Omit<Sides, "shown"> => {
    const known = sides.get(key) ?? {
      id: part.id,
      assetNumber: part.assetNumber,
      licenseType: part.licenseType,
      wanted: undefined,
      placed: undefined,
      sent: undefined,
    };
    sides.set(key, known);
    return known;
  };
  const keyOf = (part: NumberedItem | SentItem): string => {
    const instance = part.assetNumber === null && "instanceId" in part ? part.instanceId : "";
    return [part.assetNumber ?? "", part.id, instance].join("\u0000");
  };
  if (wanted) for (const part of items.wanted) at(part, keyOf(part)).wanted ??= part;
  for (const part of items.sent) at(part, keyOf(part)).sent ??= part;
  for (const part of items.placed) at(part, keyOf(part)).placed ??= part;
  return [...sides].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)).map(([, side]) => side);
}

function compare(
  item: CustomerCase,
  order: OrderCase,
  level: "product" | "package",
  side: Sides,
  view: ReconciliationView,
): Comparison {
  const { placed } = order;
  const purchase = side.sent === undefined ? side.placed?.purchase : side.sent.purchase;
  const isTaken = placed?.origin === "adopted" || purchase !== undefined;
  const sent = side.sent !== undefined || (isTaken && side.placed !== undefined);
  return {
    ...about(order),
    ...(purchase !== undefined && boughtBy(purchase)),
    level,
    licenseOrderId: (purchase ?? placed)?.licenceOrders.get(side.licenseType),
    licenseType: side.licenseType,
    assetNumber: side.assetNumber,
    unit: side.assetNumber === null ? undefined : order.units?.get(side.assetNumber),
    item: side.id,
    inCrm: side.wanted !== undefined,
    sent,
    seenAt: side.shown?.seenAt ?? item.read?.seenAt ?? null,
    ...(side.shown === undefined
      ? judgeUnshown(item, order, side, { sent, at: (purchase ?? placed)?.at }, view)
      : judgeShown(order, level, side, { shown: side.shown, sent, seconds: view.seconds })),
  };
}

function notesOn(order: OrderCase, side: Sides): string[] {
  return side.wanted === undefined ? [goneNote(order)] : waitNote(order.crm);
}

function judgeShown(
  order: OrderCase,
  level: "product" | "package",
  side: Sides,
  { shown, sent, seconds }: { shown: ShownItem; sent: boolean; seconds: number | undefined },
): Judgement {
  const { placed } = order;
  const notes = notesOn(order, side);
  if (!sent || placed === null) {
    const unknown = "the platform shows it, and this ledger does not know that it was sent";
    return { verdict: "extra", shown: true, details: [unknown, ...notes] };
  }
  if (side.wanted === undefined) return { verdict: "extra", shown: true, details: notes };
  const expected = side.sent?.fields ?? adoptedFields(side.placed?.fields ?? {});
  const purchase = side.sent === undefined ? side.placed?.purchase : side.sent.purchase;
  const { channelOrderId, licenceOrders } = purchase ?? placed;
  const envelope = {
    channelOrderId,
    licenseOrderId: licenceOrders.get(side.licenseType),
    licenseType: side.licenseType,
    seconds,
  };
  const compareFields = level === "product" ? differences : packageDifferences;
  const found = compareFields(expected, envelope, shownAs(shown, channelOrderId));
  const amended = side.placed === undefined ? [] : changes(side.placed.fields, side.wanted.fields, seconds);
  const adopted = placed.origin === "adopted" && side.sent === undefined ? ["adopted: compared with the CRM"] : [];
  return {
    verdict: found.length + amended.length > 0 ? "different" : "matched",
    shown: true,
    details: [...found, ...amended, ...adopted, ...notes],
    finding: found.length > 0 ? "differs" : undefined,
  };
}

/** If the item is shown several times: the row of this purchase, if there is one. */
function shownAs({ body }: ShownItem, channelOrderId: string): JsonObject {
  return shownForms(body).find((form) => form["channelOrderId"] === channelOrderId) ?? body;
}

export function shownForms(body: JsonObject): JsonObject[] {
  const { others } = body;
  return [body, ...(Array.isArray(others) ? others.flatMap((one) => (isJsonObject(one) ? [one] : [])) : [])];
}

function judgeUnshown(
  item: CustomerCase,
  order: OrderCase,
  side: Sides,
  { sent, at }: { sent: boolean; at: string | undefined },
  view: ReconciliationView,
): Judgement {
  const notes = notesOn(order, side);
  if (!sent) {
    const details =
      order.placed === null ? [whyNot(order.crm)] : ["not sent: the order was placed without it", ...notes];
    return { verdict: "missing", shown: null, details };
  }
  if (item.read?.complete !== true)
    return { verdict: "not-observable", shown: null, details: [notRead(item), ...notes] };
  if (isSince(item, at)) return { verdict: "not-observable", shown: null, details: [sentSince, ...notes] };
  const assetShown = side.assetNumber !== null && item.shown.assets.has(side.assetNumber);
  if (!assetShown && !view.visibleTypes.has(side.licenseType)) {
    const never = `the platform has shown no ${side.licenseType} yet (A43)`;
    return { verdict: "not-observable", shown: null, details: [never, ...notes] };
  }
  const where = assetShown ? "M7 does not show it under its asset" : "neither M6 nor E8 shows its asset number";
  return { verdict: "missing", shown: false, details: [where, ...notes], finding: "not-shown" };
}

function goneNote(order: OrderCase): string {
  if (order.isAway === true) return "the order moved to another customer in the CRM, and is still placed here";
  if (order.cancelled) return "the order was cancelled in the CRM and stays placed";
  if (order.crm === null || order.crm.state === "absent") return "the order is gone from the CRM and stays placed";
  return "the CRM no longer has it in the order, which stays unchanged";
}

/** The fields of an adopted product that can be compared without knowing how it was sent. */
function adoptedFields(fields: JsonObject): JsonObject {
  if (fields["number"] !== undefined) return { merchandiseNum: fields["number"], merchandiseName: fields["name"] };
  return {
    crmProductId: fields["id"],
    productUri: fields["gmsPid"] ?? fields["appKey"],
    productName: fields["name"],
    gmsPid: fields["gmsPid"],
    appKey: fields["appKey"],
    limitConcurrent: fields["nodes"],
    timeDurationExpression: fields["term"],
    srcLicenseOrderId: fields["srcLicenseOrderId"],
  };
}

function changes(before: JsonObject, after: JsonObject, seconds: number | undefined): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names
    .filter((name) => textOf(before[name]) !== textOf(after[name]))
    .filter((name) => !isWithin(name, before[name], after[name], seconds))
    .map((name) => `CRM ${name}: placed with ${textOf(before[name])}, now ${textOf(after[name])}`);
}

function textOf(value: Json | undefined): string {
  return value === undefined ? "nothing" : canonicalJson(value);
}

function strayRow(
  level: "product" | "package",
  subject: string,
  shown: ShownItem,
  ours: ReadonlySet<string>,
): Comparison {
  const slash = subject.indexOf("/");
  const text = (name: string): string | undefined => {
    const value = shown.body[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  const isOurs = ours.has(text("channelOrderId") ?? "");
  return {
    level,
    verdict: "extra",
    channelOrderId: text("channelOrderId"),
    licenseOrderId: text("licenseOrderId"),
    licenseType: text("licenseType"),
    assetNumber: subject.slice(0, slash),
    item: subject.slice(slash + 1),
    inCrm: false,
    sent: false,
    shown: true,
    details: [
      isOurs
        ? "the platform shows it under a number of this customer's orders, and by what this ledger knows it is gone"
        : "the platform shows it, and it belongs to no order of this customer",
    ],
    finding: isOurs ? "shown-still" : undefined,
    seenAt: shown.seenAt,
  };
}

interface Envelope {
  channelOrderId: string;
  licenseOrderId: string | undefined;
  licenseType: string;
  seconds: number | undefined;
}

/** Fields of a product that M7 shows: name in E5, name in M7. No endpoint shows the other fields of E5. */
const productFields: readonly (readonly [sent: string, shown: string])[] = [
  ["crmProductId", "crmProductId"],
  ["productUri", "productUri"],
  ["productName", "productName"],
  ["gmsPid", "gmsPid"],
  ["appKey", "appKey"],
  ["limitConcurrent", "limitConcurrent"],
  ["limitStartDate", "limitStartTime"],
  ["limitEndDate", "limitEndTime"],
  ["limitTimeDuration", "limitTimeDuration"],
  ["trial", "trial"],
  ["trialEndDate", "trialEndDate"],
  ["timeDurationExpression", "timeDurationExpression"],
  ["srcLicenseOrderId", "srcLicenseOrderId"],
];

/** M7 may leave these empty for any sent value. Empty then means nothing. */
const leftEmpty: ReadonlySet<string> = new Set(["trialEndDate", "timeDurationExpression", "srcLicenseOrderId"]);

const packageFields: readonly (readonly [sent: string, shown: string])[] = [
  ["merchandiseNum", "merchandiseNum"],
  ["merchandiseName", "merchandiseName"],
  ["parentMerchandiseNum", "parentMerchandiseNum"],
];

/** An inapplicable trial end was sent as a sentinel and is not compared. */
function differences(sent: JsonObject, envelope: Envelope, shown: JsonObject): string[] {
  const trial = wireText(sent["trial"]) === "1";
  const compared = productFields.filter(
    ([name, as]) => (name !== "trialEndDate" || trial) && !(leftEmpty.has(as) && wireText(shown[as]) === ""),
  );
  return [
    ...envelopeDifferences(envelope, shown),
    ...compared.flatMap(([name, as]) =>
      isWithin(name, sent[name], shown[as], envelope.seconds) ? [] : difference(name, sent[name], shown[as]),
    ),
  ];
}

/** The parent of a root package was sent as a sentinel and is not compared (A24). */
function packageDifferences(sent: JsonObject, envelope: Envelope, shown: JsonObject): string[] {
  const root = sent["root"] === true;
  const compared = packageFields.filter(([name]) => name !== "parentMerchandiseNum" || !root);
  return [
    ...envelopeDifferences(envelope, shown),
    ...compared.flatMap(([name, as]) => difference(name, sent[name], shown[as])),
  ];
}

function envelopeDifferences(envelope: Envelope, shown: JsonObject): string[] {
  const licence = envelope.licenseOrderId === "" ? undefined : envelope.licenseOrderId;
  const type = shown["licenseType"] === undefined || shown["licenseType"] === null ? undefined : envelope.licenseType;
  return [
    ...difference("channelOrderId", envelope.channelOrderId, shown["channelOrderId"]),
    ...difference("licenseOrderId", licence, shown["licenseOrderId"]),
    ...difference("licenseType", type, shown["licenseType"]),
  ];
}

/** A Long may be a number or a text, so both are equal. Unsent values are not compared. */
function difference(name: string, sent: Json | undefined, shown: Json | undefined): string[] {
  if (sent === undefined || sent === null) return [];
  if (wireText(sent) === wireText(shown)) return [];
  return [
    `${name}: sent ${wireText(sent)}, shown ${shown === undefined || shown === null ? "nothing" : wireText(shown)}`,
  ];
}

function wireText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
