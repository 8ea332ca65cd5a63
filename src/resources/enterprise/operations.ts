import { z } from "zod";
import type { JsonObject } from "../../base/canonical-json.ts";
import { channelCodesOf } from "../../contract/assumption-settings.ts";
import { checked } from "../../contract/fits.ts";
import { bindEnterpriseRequestSchema, createEnterpriseRequestSchema } from "../../contract/order-service.ts";
import type { RecordKey } from "../../crm/model.ts";
import {
  type OperationType,
  type Bound,
  type CountedAsApplied,
  type Effect,
  type Evidence,
  type JournalEntry,
  type WhenNotFound,
  type SettleFacts,
  notSendable,
} from "../../engine/model/operation-type.ts";
import { correlationFor } from "../../engine/plan/input.ts";
import { orderDesk, withinEnterprise, privateMarker } from "../../engine/model/references.ts";
import { adds, changes as changed, type Called, type OperationLine } from "../../engine/model/operation-line.ts";
import type { Shapes, ShapesOf } from "../../engine/model/resource.ts";
import type { Snapshot } from "../../platform/snapshot.ts";

const acknowledged = z.object({ name: z.string(), branchName: z.string(), address: z.string().nullable() });
const customerField = privateMarker.optional();

const common = {
  target: z.object({ channelCustomerId: z.string() }),
  before: z.null(),
  after: acknowledged,
  context: z.object({
    channelCodes: z.array(z.string()),
    channelCustomerId: z.string(),
    correlation: z.string(),
    acknowledged,
  }),
};
const bindSchemas = {
  ...common,
  payload: z.object({
    channelCode: z.string(),
    channelCustomerId: z.string(),
    customerName: customerField,
    branchName: z.string(),
    enterpriseName: customerField,
    passwordMobile: customerField,
  }),
};
const createSchemas = {
  ...common,
  payload: z.object({
    crmCustomerId: z.string(),
    customerName: customerField,
    branchName: z.string(),
    address: customerField,
  }),
};
const updateSchemas = {
  target: z.object({}),
  payload: z.object({
    crmCustomerId: z.string(),
    customerName: customerField,
    branchName: z.string(),
    address: z.union([customerField, z.literal("")]),
  }),
  before: acknowledged.nullable(),
  after: acknowledged,
  context: z.object({ acknowledged }),
};
type BindShapes = ShapesOf<typeof bindSchemas>;
type CreateShapes = ShapesOf<typeof createSchemas>;
type UpdateShapes = ShapesOf<typeof updateSchemas>;
type MakingShapes = Shapes & ShapesOf<typeof common & { payload: z.ZodType<JsonObject> }>;
type Context = MakingShapes["context"];

declare module "../../engine/model/resource.ts" {
  interface OperationShapes {
    "bind-enterprise": BindShapes;
    "create-enterprise": CreateShapes;
    "update-enterprise": UpdateShapes;
  }
}

function contextOf({ operation, settings }: Bound<MakingShapes>): Context {
  const { channelCustomerId } = operation.target;
  return {
    channelCodes: channelCodesOf(settings),
    channelCustomerId,
    correlation: correlationFor(settings, operation.customer, channelCustomerId),
    acknowledged: operation.after,
  };
}

/** `members`: accounts that came with the enterprise. Nobody may delete them. */
function recorded(
  customer: RecordKey,
  context: Context,
  made: { enterpriseGlobalId: string; channelCode: string; origin: "created" | "bound"; members: string[] },
): Effect {
  const { enterpriseGlobalId, channelCode, origin, members } = made;
  const { channelCustomerId } = context;
  const link = { enterpriseGlobalId, channelCode, channelCustomerId, origin, examined: origin === "created" };
  const reason = "made together with the enterprise";
  return {
    changes: [
      { type: "linked", customer, link },
      { type: "acknowledged", customer, fields: context.acknowledged },
      ...(members.length === 0
        ? []
        : [{ type: "members-protected" as const, enterpriseGlobalId, memberGlobalIds: members, reason }]),
    ],
    audit: { enterpriseGlobalId, members: members.length },
  };
}

async function observe(
  { context, operation: { customer } }: JournalEntry<MakingShapes>,
  snapshot: Snapshot,
  origin: "created" | "bound",
): Promise<Evidence> {
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
  const { enterpriseGlobalId, customers } = only;
  // Members of an enterprise that E1 bound existed before, or somebody added them.
  const members = origin === "created" ? await snapshot.members(enterpriseGlobalId) : [];
  const effect = recorded(customer, context, {
    enterpriseGlobalId,
    channelCode: customers[0]?.channelCode ?? "",
    origin,
    members: members.map((member) => member.globalId),
  });
  effect.changes.push({ type: "platform-customers", enterpriseGlobalId, customers });
  return { kind: "confirmed", effect, detail };
}

async function notShown(entry: JournalEntry<MakingShapes>, facts: SettleFacts): Promise<WhenNotFound> {
  if (await facts.correlationConfirmed(entry.context.correlation)) return { kind: "drop" };
  return {
    kind: "park",
    reason:
      "E3 does not show the enterprise, and no enterprise made by this program was ever found by E3 with " +
      "these templates (A8)",
  };
}

function applied(_: unknown, seen: Exclude<Evidence, { kind: "confirmed" }>): CountedAsApplied {
  return {
    code: "settle.nothing-to-link",
    why:
      seen.kind === "ambiguous"
        ? seen.reason
        : "the platform (E3) does not show the enterprise, so crm-sync cannot link the customer",
    cure: "wait until E3 shows exactly one enterprise under the customer's channel number, or decide --not-applied",
  };
}

function making(origin: "created" | "bound") {
  return {
    stages: ["enterprise"],
    invalidates: ["enterprises"],
    onUnknown: {
      by: "observe",
      observe: async (entry: JournalEntry<MakingShapes>, snapshot: Snapshot) => await observe(entry, snapshot, origin),
      notShown,
      nonRepeatable: true,
    },
    decide: {
      applied,
      partCure: "leave one enterprise under the customer's channel number on the platform, then settle it as --applied",
    },
    reversal: { how: "impossible", why: "no call takes an enterprise away" },
    whereToLook: ({ context }: { context: Context | undefined }) => ({
      what: `an enterprise with the channel customer number ${context?.channelCustomerId ?? "(not known)"}`,
      where: "back office of the order service, customers by channel customer number; E3 shows it",
      whom: orderDesk,
    }),
    can: {
      claims: {
        what: "enterprise",
        of: ({ customer, target }: { customer: RecordKey; target: MakingShapes["target"] }) => ({
          what: "enterprise" as const,
          number: target.channelCustomerId,
          customer,
        }),
      },
      assumes: { always: origin === "created" ? (["A8", "A10"] as const) : (["A10"] as const) },
    },
  } as const;
}

const bound = making("bound");
/** E1 binds a customer to an existing enterprise, or creates one. */
const bind: OperationType<BindShapes> = {
  ...bound,
  endpoint: "E1",
  schemas: bindSchemas,
  prepare(given) {
    const { customer } = given.operation;
    const context = contextOf(given);
    const request = checked(bindEnterpriseRequestSchema, given.wire);
    if (!request.success) return notSendable(request.error.issues);
    return {
      context,
      send: async ({ orderService }, call) => {
        const outcome = await orderService.bindEnterprise(request.data, call);
        return {
          outcome,
          conclude: () => {
            if (outcome.kind !== "done") return { doubt: "no data" };
            const { enterpriseGlobalId, channelCode, channelCustomerId } = outcome.data;
            if (channelCustomerId !== request.data.channelCustomerId || channelCode !== request.data.channelCode)
              return { doubt: "E1 answered with a customer of another channel number than the one that was sent" };
            const made = { enterpriseGlobalId, channelCode, origin: "bound" as const, members: [] };
            return { ...recorded(customer, context, made), refused: [] };
          },
        };
      },
    };
  },
  can: {
    ...bound.can,
    prints: {
      line: async ({ payload }) => adds(`bind the enterprise of channel customer ${payload.channelCustomerId}`),
    },
  },
};

const created = making("created");
const create: OperationType<CreateShapes> = {
  ...created,
  endpoint: "E2",
  schemas: createSchemas,
  prepare(given) {
    const { customer } = given.operation;
    const context = contextOf(given);
    const request = checked(createEnterpriseRequestSchema, given.wire);
    if (!request.success) return notSendable(request.error.issues);
    return {
      context,
      send: async ({ orderService }, call) => {
        const outcome = await orderService.createEnterprise(request.data, call);
        return {
          outcome,
          conclude: () => {
            if (outcome.kind !== "done") return { doubt: "no data" };
            const { enterpriseGlobalId, members } = outcome.data;
            const made = {
              enterpriseGlobalId,
              channelCode: given.settings.channelCode ?? "",
              origin: "created" as const,
              members: members.map((member) => member.memberGlobalId),
            };
            return { ...recorded(customer, context, made), refused: [] };
          },
        };
      },
    };
  },
  can: { ...created.can, prints: { line: async () => adds("create the enterprise") } },
};

/** No call reads name, branch and address back, so an unknown outcome is sent again. */
const update: OperationType<UpdateShapes> = {
  endpoint: "E4",
  stages: ["enterprise"],
  schemas: updateSchemas,
  invalidates: ["enterprises"],
  prepare({ operation, wire, facts }) {
    const request = checked(createEnterpriseRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const { customer, after: fields } = operation;
    return {
      context: { acknowledged: fields },
      send: async ({ orderService }, call) => ({
        outcome: await orderService.updateEnterprise(request.data, call),
        conclude: () => ({
          changes: [{ type: "acknowledged", customer, fields }],
          audit: { enterpriseGlobalId: facts.link?.enterpriseGlobalId },
          refused: [],
        }),
      }),
    };
  },
  onUnknown: { by: "resend" },
  decide: {
    applied: ({ operation: { customer }, context: { acknowledged: fields } }) => ({
      effect: { changes: [{ type: "acknowledged", customer, fields }], audit: {} },
      summary: "Name, branch and address count as sent.",
    }),
  },
  reversal: { how: "exact", by: "E4" },
  whereToLook: () => ({
    what: `name, branch and address of ${withinEnterprise(undefined)}, which should be as the CRM has them`,
    where: "back office of the order service, the enterprise's own page; no call shows them",
    whom: orderDesk,
  }),
  can: {
    governed: { policy: "enterprises.update" },
    assumes: {
      always: ["A3"],
      by: ({ payload }) => (payload.address === undefined ? [{ row: "A14", fields: ["address"] }] : []),
    },
    prints: { line: updateLine },
  },
};

async function updateLine(
  { customer, before, after }: Pick<UpdateShapes, "before" | "after"> & { customer: RecordKey },
  called: Called,
): Promise<OperationLine> {
  const name = called.record(customer);
  const others = [
    ...(before !== null && before.branchName === after.branchName ? [] : [`branch ${after.branchName}`]),
    ...(before !== null && before.address === after.address ? [] : ["address"]),
  ];
  if (before === null || before.name === after.name) return changed(`update customer ${name}: ${others.join(", ")}`);
  const [was, is] = [await called.company(customer, before.name), await called.company(customer, after.name)];
  const renamed = was === undefined || is === undefined ? "" : `: ${was} → ${is}`;
  return changed(`rename customer ${name}${renamed}${others.length === 0 ? "" : `; also ${others.join(", ")}`}`);
}

export const types = { "bind-enterprise": bind, "create-enterprise": create, "update-enterprise": update };
