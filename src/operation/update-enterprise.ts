import { z } from "zod";
import { checked } from "../contract/fits.ts";
import { updateEnterpriseRequestSchema } from "../contract/order-service.ts";
import { acknowledged, customerField } from "./enterprise.ts";
import { notSendable, plainKind, readBackByNothing } from "./kind.ts";
import type { Kind } from "./kind.ts";
import { orderDesk, withinEnterprise } from "./look-for.ts";
import type { ShapesOf } from "./shape.ts";

const schemas = {
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

/**
 * E4 sets name, branch and address. No call reads them back, so one with an unknown outcome is sent again with the same
 * values.
 */
export const updateEnterprise: Kind<ShapesOf<typeof schemas>> = {
  ...plainKind,
  schemas,
  endpoint: "E4",
  stages: ["enterprise"],
  policy: "enterprises.update",
  restsOn: ["A3"],
  rests: ({ payload }) => (payload.address === undefined ? [{ row: "A14", fields: ["address"] }] : []),
  whenUnknown: "send-again",
  cureOfPart: undefined,
  outdates: ["enterprises"],
  undone: { how: "exact", by: "E4" },
  prepare({ operation, wire, facts }) {
    const request = checked(updateEnterpriseRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const context = { acknowledged: operation.after };
    return {
      context,
      send: async ({ orderService }, call) => ({
        outcome: await orderService.updateEnterprise(request.data, call),
        conclude: () => ({
          changes: [{ type: "acknowledged", customer: operation.customer, fields: context.acknowledged }],
          audit: { enterpriseGlobalId: facts.link?.enterpriseGlobalId },
          refused: [],
        }),
      }),
    };
  },
  read: readBackByNothing,
  countAsApplied({ operation, context }) {
    const { acknowledged: fields } = context;
    return {
      effect: { changes: [{ type: "acknowledged", customer: operation.customer, fields }], audit: {} },
      summary: "Name, branch and address count as sent.",
    };
  },
  lookFor: () => ({
    what: `name, branch and address of ${withinEnterprise(undefined)}, which should be as the CRM has them`,
    where: "back office of the order service, the enterprise's own page; no call shows them",
    whom: orderDesk,
  }),
};
