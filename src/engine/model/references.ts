import { z } from "zod";
import { isJsonObject, type Json } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { compareBytes } from "./state.ts";

/** Values that a plan cannot know yet. `of`: a licence type, a staff subject or a unit of an asset. */
export const references = {
  enterpriseGlobalId: z.object({ $ref: z.literal("enterpriseGlobalId") }),
  customerId: z.object({ $ref: z.literal("customerId"), of: z.string() }),
  assetNumber: z.object({ $ref: z.literal("assetNumber"), of: z.string() }),
  memberGlobalId: z.object({ $ref: z.literal("memberGlobalId"), of: z.string() }),
  licenseOrderId: z.object({ $ref: z.literal("licenseOrderId"), of: z.string() }),
  channelOrderId: z.object({ $ref: z.literal("channelOrderId"), of: z.string() }),
};
export type Reference = {
  [Name in keyof typeof references]: z.infer<(typeof references)[Name]>;
}[keyof typeof references];

export const privateMarker = z.object({
  $private: z.string(),
  field: z.string(),
  version: z.number(),
  commitment: z.string(),
});
export type PrivateMarker = z.infer<typeof privateMarker>;

export type Commitment = Pick<PrivateMarker, "commitment">;

/** A password that is generated at binding. The text is the key of the staff record. */
export const generatedPassword = z.object({ $initialPassword: z.string() });

export const newPassword = z.object({ $newPassword: z.string() });

export function isReference(value: Json | undefined): value is Reference {
  return isJsonObject(value) && typeof value["$ref"] === "string";
}

export function isPrivateMarker(value: Json | undefined): value is PrivateMarker {
  return (
    isJsonObject(value) &&
    typeof value["$private"] === "string" &&
    typeof value["field"] === "string" &&
    typeof value["version"] === "number" &&
    typeof value["commitment"] === "string"
  );
}

export function isCommitment(value: Json | undefined): value is Commitment {
  return isJsonObject(value) && typeof value["commitment"] === "string";
}

export function assetNumberReference(
  order: RecordKey,
  instanceId: string,
  unit: number,
): z.infer<typeof references.assetNumber> {
  return { $ref: "assetNumber", of: assetUnit(order, instanceId, unit) };
}

export function assetUnit({ namespace, id }: RecordKey, instanceId: string, unit: number): string {
  return JSON.stringify([namespace, id, instanceId, unit]);
}

const assetUnitName = z.tuple([z.string(), z.string(), z.string(), z.int()]);

/** The asset instance in a unit's name. Undefined for an asset number. */
export function assetUnitOf(text: string): { order: RecordKey; instanceId: string } | undefined {
  if (!isAssetUnit(text)) return undefined;
  const [namespace, id, instanceId] = assetUnitName.parse(JSON.parse(text));
  return { order: { namespace, id }, instanceId };
}

export function isAssetUnit(text: string): boolean {
  return text.startsWith("[");
}

export function amendmentReference(order: RecordKey): z.infer<typeof references.channelOrderId> {
  return { $ref: "channelOrderId", of: formatKey(order) };
}

export function staffReference(staff: RecordKey): z.infer<typeof references.memberGlobalId> {
  return { $ref: "memberGlobalId", of: formatKey(staff) };
}

export const knownAfter: Record<Reference["$ref"], string> = {
  enterpriseGlobalId: "E2",
  customerId: "E3",
  assetNumber: "E9",
  memberGlobalId: "M1",
  licenseOrderId: "E5",
  channelOrderId: "the intent",
};

export function markerKey(marker: Pick<PrivateMarker, "$private" | "field" | "version">): string {
  return `${marker.$private}@${marker.version}#${marker.field}`;
}

/** A person's account at one customer. After a move the person has two, each with its own passwords. */
interface Account {
  staff: RecordKey;
  customer: RecordKey;
}

export function initialPasswordRef({ staff, customer }: Account): string {
  return `initial-password/${formatKey(staff)} at ${formatKey(customer)}`;
}

export function newPasswordRef({ staff, customer }: Account): string {
  return `reset-password/${formatKey(staff)} at ${formatKey(customer)}`;
}

export function passwordRefsBegin(staff: RecordKey): string[] {
  const person = `${formatKey(staff)} at `;
  return [`initial-password/${person}`, `reset-password/${person}`];
}

export const orderDesk = "the service desk of the order service";
export const memberDesk = "the service desk of the member-center";
const mostShown = 10;

export function withinEnterprise(context: { enterpriseGlobalId: string } | undefined): string {
  const enterprise = context?.enterpriseGlobalId ?? "";
  return enterprise === "" ? "the customer's enterprise" : `the enterprise ${enterprise}`;
}

export function some(items: readonly string[]): string {
  if (items.length === 0) return "(none known)";
  const more = items.length - mostShown;
  return more > 0 ? `${items.slice(0, mostShown).join(", ")} and ${more} more` : items.join(", ");
}

export const earlierUnit = z.object({
  namespace: z.string(),
  orderId: z.string(),
  instanceId: z.string(),
  unit: z.int(),
});
export type EarlierUnit = z.infer<typeof earlierUnit>;

/** A unit that is bought again under an existing number. `shown`: only M7 knows that number, not the ledger. */
export const renewedUnit = z.object({
  unit: z.int(),
  number: z.string(),
  continues: z.array(earlierUnit),
  shown: z.literal(true).optional(),
});
export type RenewedUnit = z.infer<typeof renewedUnit>;

const plannedAsset = z.object({
  id: z.string(),
  licenseType: z.string(),
  quantity: z.int(),
  given: z.array(z.string()),
  /** The units that are bought. Undefined: the first ones. */
  units: z.array(z.int()).optional(),
  renewed: z.array(renewedUnit).optional(),
});
export type PlannedAsset = z.infer<typeof plannedAsset>;

export function unitsOf({ quantity, units }: Pick<PlannedAsset, "quantity" | "units">): number[] {
  return units ?? Array.from({ length: quantity }, (_, unit) => unit);
}

export function newUnitsOf(asset: Pick<PlannedAsset, "quantity" | "units" | "renewed">): number[] {
  const renewed = new Set(asset.renewed?.map(({ unit }) => unit));
  return unitsOf(asset).filter((unit) => !renewed.has(unit));
}

export function givenToNew({ given, renewed = [] }: Pick<PlannedAsset, "given" | "renewed">): string[] {
  const taken = new Set(renewed.map(({ number }) => number));
  return given.filter((number) => !taken.has(number));
}

export function numbersThere(assets: readonly PlannedAsset[]): string[] {
  return assets.flatMap(({ given, renewed = [] }) => [...given, ...renewed.map(({ number }) => number)]);
}

export const plannedOrder = z.object({ version: z.int(), bodyHash: z.string(), assets: z.array(plannedAsset) });

export interface FixedNumber {
  number: string;
  orderId: string;
  namespace: string;
  instanceId: string;
  unit: number;
  /** Earlier units with this number, nearest first. Undefined if this unit had it first. */
  continues?: readonly EarlierUnit[] | undefined;
}

export function withNumbers<Whole extends { numbers: FixedNumber[] }>(
  known: Whole,
  fixed: readonly FixedNumber[],
): Whole {
  if (fixed.length === 0) return known;
  const others = known.numbers.filter((before) => fixed.every((number) => byUnit(before, number) !== 0));
  return { ...known, numbers: [...others, ...fixed].toSorted(byUnit) };
}

export function byUnit(one: FixedNumber, other: FixedNumber): number {
  return (
    compareBytes(one.namespace, other.namespace) ||
    compareBytes(one.orderId, other.orderId) ||
    compareBytes(one.instanceId, other.instanceId) ||
    one.unit - other.unit
  );
}
