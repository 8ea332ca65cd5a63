import { z } from "zod";
import { isJsonObject, type Json } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { compareBytes } from "./state-part.ts";

/** Values that a plan cannot know yet. `of` identifies one: a licence type, a staff subject, an asset instance. */
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

/** A value in the ledger's private table: its record, version and field, and the salted commitment to it. */
export const privateMarker = z.object({
  $private: z.string(),
  field: z.string(),
  version: z.number(),
  commitment: z.string(),
});
export type PrivateMarker = z.infer<typeof privateMarker>;

/** What a kept form of a record has in the place of a private value. */
export type Commitment = Pick<PrivateMarker, "commitment">;

/** A password that is generated when the payload is bound; the text is the key of the staff record. */
export const generatedPassword = z.object({ $initialPassword: z.string() });

/** A password that is generated at binding for this operation only; the text is the key of the staff record. */
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

/** The asset instance of a unit's name; undefined for an asset number. */
export function assetUnitOf(text: string): { order: RecordKey; instanceId: string } | undefined {
  if (!isAssetUnit(text)) return undefined;
  const [namespace, id, instanceId] = assetUnitName.parse(JSON.parse(text));
  return { order: { namespace, id }, instanceId };
}

export function isAssetUnit(text: string): boolean {
  return text.startsWith("[");
}

/** The reference to the channel order number that an amendment gets before its intent. */
export function amendmentReference(order: RecordKey): z.infer<typeof references.channelOrderId> {
  return { $ref: "channelOrderId", of: formatKey(order) };
}

export function staffReference(staff: RecordKey): z.infer<typeof references.memberGlobalId> {
  return { $ref: "memberGlobalId", of: formatKey(staff) };
}

/** The endpoint that makes a reference known, as a plan prints it: "(known after E3)". */
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

/** A person's account at one customer. After a move there is one at each, with separately sealed passwords. */
interface Account {
  staff: RecordKey;
  customer: RecordKey;
}

/** The sealed name of the password that an account was created with. */
export function initialPasswordRef({ staff, customer }: Account): string {
  return `initial-password/${formatKey(staff)} at ${formatKey(customer)}`;
}

/** The sealed name of passwords that were set for an account later. */
export function newPasswordRef({ staff, customer }: Account): string {
  return `reset-password/${formatKey(staff)} at ${formatKey(customer)}`;
}

/** The prefixes of a person's sealed names: initial passwords, then new ones. */
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

/** A unit that is bought again under an existing number. `shown`: only M7, and not the ledger, knows that number. */
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
  /** Which units are bought; undefined: the first ones. */
  units: z.array(z.int()).optional(),
  /** Units that continue earlier ones; they need no new number. */
  renewed: z.array(renewedUnit).optional(),
});
/** An asset instance that an order brings: how many numbers it needs, and the numbers that the CRM gave. */
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

/** Numbers of planned assets that may exist before the purchase: from the CRM, and of earlier units. */
export function numbersThere(assets: readonly PlannedAsset[]): string[] {
  return assets.flatMap(({ given, renewed = [] }) => [...given, ...renewed.map(({ number }) => number)]);
}

export const plannedOrder = z.object({ version: z.int(), bodyHash: z.string(), assets: z.array(plannedAsset) });

/** A number that belongs to one unit of an asset instance permanently. */
export interface FixedNumber {
  number: string;
  orderId: string;
  namespace: string;
  instanceId: string;
  unit: number;
  /** The earlier units with the same number, nearest first; undefined if the number was first fixed to this unit. */
  continues?: readonly EarlierUnit[] | undefined;
}

/** Known state after the ledger has chosen numbers. A new one replaces the one of the same unit. */
export function withNumbers<Whole extends { numbers: FixedNumber[] }>(
  known: Whole,
  fixed: readonly FixedNumber[],
): Whole {
  if (fixed.length === 0) return known;
  const others = known.numbers.filter((before) => fixed.every((number) => byUnit(before, number) !== 0));
  return { ...known, numbers: [...others, ...fixed].toSorted(byUnit) };
}

/** Numbers in the order of the units that they are fixed to. */
export function byUnit(one: FixedNumber, other: FixedNumber): number {
  return (
    compareBytes(one.namespace, other.namespace) ||
    compareBytes(one.orderId, other.orderId) ||
    compareBytes(one.instanceId, other.instanceId) ||
    one.unit - other.unit
  );
}
