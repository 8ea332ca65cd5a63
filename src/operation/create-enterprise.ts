import { checked } from "../contract/fits.ts";
import { createEnterpriseRequestSchema } from "../contract/order-service.ts";
import { z } from "zod";
import { contextOf, customerField, enterpriseKind, enterpriseMade, enterpriseSchemas } from "./enterprise.ts";
import { notSendable } from "./kind.ts";
import type { Kind } from "./kind.ts";
import type { ShapesOf } from "./shape.ts";

const schemas = {
  ...enterpriseSchemas,
  payload: z.object({
    crmCustomerId: z.string(),
    customerName: customerField,
    branchName: z.string(),
    address: customerField,
  }),
};
type CreateEnterpriseShapes = ShapesOf<typeof schemas>;

/** E2 makes an enterprise with a default and an industry customer and its first members. */
export const createEnterprise: Kind<CreateEnterpriseShapes> = {
  ...enterpriseKind<CreateEnterpriseShapes>("created"),
  schemas,
  endpoint: "E2",
  prepare(bound) {
    const { customer } = bound.operation;
    const context = contextOf(bound);
    const request = checked(createEnterpriseRequestSchema, bound.wire);
    if (!request.success) return notSendable(request.error.issues);
    return {
      context,
      send: async ({ orderService }, call) => {
        const outcome = await orderService.createEnterprise(request.data, call);
        return {
          outcome,
          conclude: () => {
            if (outcome.kind !== "done") return { doubt: "no data" };
            const made = enterpriseMade(customer, context, {
              enterpriseGlobalId: outcome.data.enterpriseGlobalId,
              channelCode: bound.settings.channelCode ?? "",
              origin: "created",
              members: outcome.data.members.map((member) => member.memberGlobalId),
            });
            return { ...made, refused: [] };
          },
        };
      },
    };
  },
};
