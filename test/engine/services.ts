import type { Platform } from "../../src/platform/platform.ts";
import { permitted, type ApplyWorld } from "../support/world/apply-world.ts";

/** The services of a world, answering otherwise than the sandbox does. */

export const lost = { fault: "appliedNoReply", times: 1 } as const;
export const untouched = { fault: "resetBefore", times: 1 } as const;

export function withOrderService(world: ApplyWorld, instead: Partial<Platform["orderService"]>): ApplyWorld {
  return world.with({ orderService: { ...world.deps.platform.orderService, ...instead } });
}

export function withMemberCenter(world: ApplyWorld, instead: Partial<Platform["memberCenter"]>): ApplyWorld {
  return world.with({ memberCenter: { ...world.deps.platform.memberCenter, ...instead } });
}

/** E5 reaches the service when `land` is called, and its answer, if there is one, says nothing. */
export function landing(
  world: ApplyWorld,
  answers: "nothing" | "never" = "nothing",
): { world: ApplyWorld; land: () => Promise<unknown> } {
  const real = world.deps.platform.orderService;
  let late: () => Promise<unknown> = () => Promise.reject(new Error("nothing was sent"));
  const sent = withOrderService(world, {
    placeOrders: async (request, call) => {
      const left = await permitted(call);
      late = () => real.placeOrders(request, left);
      return answers === "never" ? await new Promise<never>(() => {}) : { kind: "unknown", reason: "no answer" };
    },
  });
  return { world: sent, land: () => late() };
}

/** E5 finds nobody who listens. */
export function refusingOrders(world: ApplyWorld): ApplyWorld {
  return withOrderService(world, {
    placeOrders: async (_, call) => {
      await permitted(call);
      return { kind: "not-sent", reason: "connect ECONNREFUSED" };
    },
  });
}

/** M7 leaves out the first product of every asset. */
export function showingHalf(world: ApplyWorld): ApplyWorld {
  const real = world.deps.platform.memberCenter;
  return withMemberCenter(world, {
    listAssetContents: async (asset, call) => {
      const contents = await real.listAssetContents(asset, call);
      return { ...contents, productInstanceList: contents.productInstanceList.slice(1) };
    },
  });
}

/** M6 and E8 show no assets. */
export function showingNoAssets(world: ApplyWorld): ApplyWorld {
  return withOrderService(withMemberCenter(world, { listAssetNumbers: async () => [] }), {
    listVirtualAssets: async () => [],
  });
}
