import { checked } from "../contract/fits.ts";
import { bindEnterpriseRequestSchema } from "../contract/order-service.ts";
import { z } from "zod";
import { contextOf, customerField, enterpriseKind, enterpriseMade, enterpriseSchemas } from "./enterprise.ts";
import { notSendable } from "./kind.ts";
import type { Kind } from "./kind.ts";
import type { ShapesOf } from "./shape.ts";

const schemas = {
  ...enterpriseSchemas,
  payload: z.object({
    channelCode: z.string(),
    channelCustomerId: z.string(),
    customerName: customerField,
    branchName: z.string(),
    enterpriseName: customerField,
    passwordMobile: customerField,
  }),
};
type BindEnterpriseShapes = ShapesOf<typeof schemas>;

/** E1 binds a customer to an enterprise that is there already, or makes one. */
export const bindEnterprise: Kind<BindEnterpriseShapes> = {
  ...enterpriseKind<BindEnterpriseShapes>("bound"),
  schemas,
  endpoint: "E1",
  prepare(bound) {
    const { customer } = bound.operation;
    const context = contextOf(bound);
    const request = checked(bindEnterpriseRequestSchema, bound.wire);
    if (!request.success) return notSendable(request.error.issues);
    return {
      context,
      send: async ({ orderService }, call) => {
        const outcome = await orderService.bindEnterprise(request.data, call);
        return {
          outcome,
          conclude: () => {
            if (outcome.kind !== "done") return { doubt: "no data" };
            const { data } = outcome;
            const { channelCode, channelCustomerId: asked } = request.data;
            if (data.channelCustomerId !== asked || data.channelCode !== channelCode)
              return { doubt: "E1 answered with a customer of another channel number than the one that was sent" };
            const made = enterpriseMade(customer, context, {
              enterpriseGlobalId: data.enterpriseGlobalId,
              channelCode: data.channelCode,
              origin: "bound",
              members: [],
            });
            return { ...made, refused: [] };
          },
        };
      },
    };
  },
};
