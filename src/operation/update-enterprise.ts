import { z } from "zod";
import { updateEnterpriseRequestSchema } from "../contract/order-service.ts";
import { acknowledged } from "./enterprise.ts";
import { notSendable, plainKind } from "./kind.ts";
import type { Kind } from "./kind.ts";
import { orderDesk, withinEnterprise } from "./look-for.ts";

const updateContext = z.object({ acknowledged });

/**
 * E4 sets name, branch and address. No call reads them back, so one with an unknown outcome is sent again with the same
 * values.
 */
export const updateEnterprise: Kind = {
  ...plainKind,
  endpoint: "E4",
  stage: "enterprise",
  whenUnknown: "send-again",
  cureOfPart: undefined,
  prepare({ operation, wire, facts }) {
    const request = updateEnterpriseRequestSchema.safeParse(wire);
    if (!request.success) return notSendable(request.error.issues);
    const context = updateContext.parse({ acknowledged: operation.after });
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
  read: () => Promise.resolve({ kind: "not-found", detail: { call: "none: no operation reads it back" } }),
  countAsApplied({ operation, context }) {
    const { acknowledged: fields } = updateContext.parse(context);
    return {
      effect: { changes: [{ type: "acknowledged", customer: operation.customer, fields }], audit: {} },
      summary: "Name, branch and address count as sent.",
    };
  },
  lookFor: (entry) => ({
    what: `name, branch and address of ${withinEnterprise(entry)}, which should be as the CRM has them`,
    where: "back office of the order service, the enterprise's own page; no call shows them",
    whom: orderDesk,
  }),
};
