import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { ClientDependencies, ServiceState } from "../http/client.ts";
import { createServiceClient } from "../http/client.ts";
import type { Transport } from "../http/transport.ts";
import type { MemberCenter } from "./member-center/member-center.ts";
import { createMemberCenter } from "./member-center/member-center.ts";
import type { OrderService } from "./order-service/order-service.ts";
import { createOrderService } from "./order-service/order-service.ts";
import type { MemberCenterSettings, OrderServiceSettings } from "./service-settings.ts";

/** Both remote services. */
export interface Platform {
  orderService: OrderService;
  memberCenter: MemberCenter;
  /** Circuit, pace and calls of each service, for status and health. */
  state(): { orderService: ServiceState; memberCenter: ServiceState };
  /** Breaks off what is under way and frees the connections. */
  close(): Promise<void>;
}

export interface PlatformSettings {
  orderService: OrderServiceSettings;
  memberCenter: MemberCenterSettings;
  assumptions: Pick<AssumptionSettings, "assetFirstDigits" | "staffPage">;
}

export interface PlatformDependencies extends Omit<ClientDependencies, "transport"> {
  /** Other ways to carry requests, for tests in virtual time. */
  transports?: { orderService: Transport; memberCenter: Transport } | undefined;
}

/** Makes the clients of both services; nothing is connected before the first call. */
export function createPlatform(settings: PlatformSettings, dependencies: PlatformDependencies): Platform {
  const { transports, ...rest } = dependencies;
  const orders = createServiceClient("order-service", settings.orderService, {
    ...rest,
    transport: transports?.orderService,
  });
  const members = createServiceClient("member-center", settings.memberCenter, {
    ...rest,
    transport: transports?.memberCenter,
  });
  return {
    orderService: createOrderService(orders, {
      appKey: settings.orderService.appKey,
      assetFirstDigits: settings.assumptions.assetFirstDigits,
    }),
    memberCenter: createMemberCenter(members, {
      staffPage: settings.assumptions.staffPage,
    }),
    state: () => ({ orderService: orders.state(), memberCenter: members.state() }),
    close: async () => {
      await Promise.all([orders.close(), members.close()]);
    },
  };
}
