import type { Json } from "../base/canonical-json.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Known, KnownPlatformCustomer, Link, StaffParticulars } from "./input.ts";

/** What becomes known by an outcome or a reading. Applied in the transaction of that outcome. */
export type KnownChange =
  | { type: "linked"; customer: RecordKey; link: Link }
  | { type: "examined"; customer: RecordKey }
  | { type: "platform-customers"; enterpriseGlobalId: string; customers: KnownPlatformCustomer[] }
  | { type: "acknowledged"; customer: RecordKey; fields: NonNullable<Known["acknowledged"]> }
  | { type: "members-protected"; enterpriseGlobalId: string; memberGlobalIds: string[]; reason: string }
  | {
      type: "order-placed";
      order: RecordKey;
      customer: RecordKey;
      channelOrderId: string;
      bodyHash: string;
      version: number;
      operationId: string | null;
      origin: "placed" | "adopted";
      licenceOrders: { sequence: number; licenseType: string; platformCustomerId: string; licenseOrderId: string }[];
    }
  | { type: "numbers-taken"; numbers: string[]; operationId: string }
  | {
      type: "staff-linked";
      staff: RecordKey;
      customer: RecordKey;
      enterpriseGlobalId: string;
      memberGlobalId: string;
      origin: "created" | "adopted";
      particulars: StaffParticulars;
    }
  /** Licence types whose assets the platform has shown: of others, not seeing an order says nothing (A43). */
  | { type: "licence-types-shown"; types: readonly string[] }
  | { type: "enterprise-code"; enterpriseGlobalId: string; code: string }
  | {
      type: "asset-granted";
      assetNumber: string;
      staff: RecordKey;
      customer: RecordKey;
      memberGlobalId: string;
      origin: "granted" | "adopted";
      operationId: string | null;
    }
  | { type: "asset-revoked"; assetNumber: string; operationId: string | null }
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-gone"; customer: RecordKey; kind: string; subjects: string[] }
  | { type: "observation-read"; customer: RecordKey; complete: boolean }
  | { type: "secrets-wiped"; ref: string; version: number };
