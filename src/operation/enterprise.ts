import { z } from "zod";
import type { JsonObject } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { channelCodesOf } from "../contract/assumption-settings.ts";
import { fillTemplate } from "../contract/template.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Snapshot } from "../platform/snapshot.ts";
import type {
  Bound,
  CountedAsApplied,
  Effect,
  Evidence,
  JournalEntry,
  Kind,
  SettleFacts,
  WhenNotFound,
} from "./kind.ts";
import { plainKind } from "./kind.ts";
import { orderDesk } from "./look-for.ts";
import { privateMarker } from "./references.ts";
import type { Shapes, ShapesOf } from "./shape.ts";

/** What an E1, E2 or E4 told the platform of a customer, as commitments. */
export const acknowledged = z.object({ name: z.string(), branchName: z.string(), address: z.string().nullable() });

/** What E1 and E2 have to remember. */
const enterpriseContext = z.object({
  channelCodes: z.array(z.string()),
  channelCustomerId: z.string(),
  correlation: z.string(),
  acknowledged,
});
type EnterpriseContext = z.infer<typeof enterpriseContext>;

/** What E1 and E2 have in common in a plan and in the journal. */
export const enterpriseSchemas = {
  target: z.object({ channelCustomerId: z.string() }),
  before: z.null(),
  after: acknowledged,
  context: enterpriseContext,
};
/** A private field of the customer that a call may leave out. */
export const customerField = privateMarker.optional();

/** Either of the two, with whatever payload. */
type EnterpriseShapes = Shapes & ShapesOf<typeof enterpriseSchemas & { payload: z.ZodType<JsonObject> }>;

/**
 * Which templates tie a CRM customer to its channel number: confirmed once E3 showed an enterprise that an E2 of this
 * ledger made (A8).
 */
export function correlationOf(settings: AssumptionSettings): string {
  return correlation(settings, settings.channelCustomerIdTemplate);
}

/**
 * What E3 has to have shown for a customer to be believed absent: its template, or, where the CRM gave a number of its
 * own, that very number.
 */
export function correlationFor(settings: AssumptionSettings, customer: RecordKey, channelCustomerId: string): string {
  const { id, namespace } = customer;
  const made = fillTemplate(settings.channelCustomerIdTemplate, { id, namespace });
  return made === channelCustomerId ? correlationOf(settings) : correlation(settings, channelCustomerId);
}

function correlation(settings: AssumptionSettings, channelCustomerId: string): string {
  return `${settings.crmCustomerIdTemplate} ${channelCustomerId} ${channelCodesOf(settings).join(",")}`;
}

export function contextOf({ operation, settings }: Bound<EnterpriseShapes>): EnterpriseContext {
  const { channelCustomerId } = operation.target;
  return {
    channelCodes: channelCodesOf(settings),
    channelCustomerId,
    correlation: correlationFor(settings, operation.customer, channelCustomerId),
    acknowledged: operation.after,
  };
}

/** E1 or E2 made the enterprise. */
export function enterpriseMade(
  customer: RecordKey,
  context: EnterpriseContext,
  made: { enterpriseGlobalId: string; channelCode: string; origin: "created" | "bound"; members: string[] },
): Effect {
  return {
    changes: [
      {
        type: "linked",
        customer,
        link: {
          enterpriseGlobalId: made.enterpriseGlobalId,
          channelCode: made.channelCode,
          channelCustomerId: context.channelCustomerId,
          origin: made.origin,
          examined: made.origin === "created",
        },
      },
      { type: "acknowledged", customer, fields: context.acknowledged },
      ...(made.members.length === 0
        ? []
        : [
            {
              type: "members-protected" as const,
              enterpriseGlobalId: made.enterpriseGlobalId,
              memberGlobalIds: made.members,
              reason: "made together with the enterprise",
            },
          ]),
    ],
    audit: { enterpriseGlobalId: made.enterpriseGlobalId, members: made.members.length },
  };
}

/** E3 shows the enterprise under the customer's channel number; it proves E1 and E2 alike. */
async function readEnterprise(
  entry: JournalEntry<EnterpriseShapes>,
  snapshot: Snapshot,
  origin: "created" | "bound",
): Promise<Evidence> {
  const { context } = entry;
  const { customer } = entry.operation;
  const found = await snapshot.enterprises(context.channelCustomerId, context.channelCodes);
  const [only] = found;
  const detail = { call: "E3", enterprises: found.map((item) => item.enterpriseGlobalId) };
  if (only === undefined) return { kind: "not-found", detail };
  if (found.length > 1) {
    return {
      kind: "ambiguous",
      reason: `the platform shows ${found.length} enterprises for one customer; one may have been made twice`,
      detail,
      met: [{ row: "A10", evidence: "E3 showed two enterprises after one call that makes one" }],
    };
  }
  // E2 makes members together with the enterprise; whoever is in one that E1 bound was there before or came by
  // somebody's hand.
  const members = origin === "created" ? await snapshot.members(only.enterpriseGlobalId) : [];
  const effect = enterpriseMade(customer, context, {
    enterpriseGlobalId: only.enterpriseGlobalId,
    channelCode: only.customers[0]?.channelCode ?? "",
    origin,
    members: members.map((member) => member.globalId),
  });
  effect.changes.push({
    type: "platform-customers",
    enterpriseGlobalId: only.enterpriseGlobalId,
    customers: only.customers,
  });
  return { kind: "confirmed", effect, detail };
}

async function notFound(entry: JournalEntry<EnterpriseShapes>, facts: SettleFacts): Promise<WhenNotFound> {
  if (await facts.correlationConfirmed(entry.context.correlation)) return { kind: "drop" };
  return {
    kind: "park",
    reason:
      "E3 does not show the enterprise, and no enterprise made by this program was ever found by E3 with " +
      "these templates (A8)",
  };
}

function countAsApplied(_: unknown, evidence: Exclude<Evidence, { kind: "confirmed" }>): CountedAsApplied {
  return {
    code: "settle.nothing-to-link",
    why:
      evidence.kind === "ambiguous"
        ? evidence.reason
        : "the platform (E3) does not show the enterprise, so crm-sync cannot link the customer",
    cure: "wait until E3 shows exactly one enterprise under the customer's channel number, or decide --not-applied",
  };
}

/** What the two ways to an enterprise have in common. */
export function enterpriseKind<S extends EnterpriseShapes>(
  origin: "created" | "bound",
): Omit<Kind<S>, "endpoint" | "prepare" | "schemas"> {
  return {
    ...plainKind,
    stages: ["enterprise"],
    restsOn: origin === "created" ? ["A8", "A10"] : ["A10"],
    isSentSparingly: true,
    cureOfPart: "leave one enterprise under the customer's channel number on the platform, then settle it as --applied",
    read: (entry, snapshot) => readEnterprise(entry, snapshot, origin),
    notFound,
    countAsApplied,
    claims: "enterprise",
    uniqueness: ({ customer, target }) => ({ what: "enterprise", number: target.channelCustomerId, customer }),
    outdates: ["enterprises"],
    undone: { how: "impossible", why: "no call takes an enterprise away" },
    lookFor: ({ context }) => ({
      what: `an enterprise with the channel customer number ${context?.channelCustomerId ?? "(not known)"}`,
      where: "back office of the order service, customers by channel customer number; E3 shows it",
      whom: orderDesk,
    }),
  };
}
