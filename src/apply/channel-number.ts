import { fillTemplate } from "../contract/template.ts";
import type { OrderWithTree } from "../engine/desired.ts";
import type { ApplyDependencies } from "./dependencies.ts";

/** The channel order number that an order has, or would be placed under (A16). */
export function channelNumberOf(
  deps: Pick<ApplyDependencies, "settings">,
  { key: { id, namespace }, body }: Pick<OrderWithTree, "key" | "body">,
): string {
  return body.channelOrderId ?? fillTemplate(deps.settings.channelOrderIdTemplate, { id, namespace });
}
