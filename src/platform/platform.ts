import type { MemberCenterSettings, OrderServiceSettings } from "./service-settings.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { type ClientDependencies, type ServiceState, createServiceClient } from "../http/client.ts";
import type { Transport } from "../http/transport.ts";
import { type MemberCenter, createMemberCenter, type OrderService, createOrderService } from "./services.ts";

export interface Platform {
  orderService: OrderService;
  memberCenter: MemberCenter;
  state(): { orderService: ServiceState; memberCenter: ServiceState };
  close(): Promise<void>;
}

export interface PlatformSettings {
  orderService: OrderServiceSettings;
  memberCenter: MemberCenterSettings;
  assumptions: Pick<AssumptionSettings, "assetFirstDigits" | "staffPage">;
}

export interface PlatformDependencies extends Omit<ClientDependencies, "transport"> {
  transports?: { orderService: Transport; memberCenter: Transport } | undefined;
}

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

/** Reached only by a fault of the program. Nothing is sent. */
function refuse(): never {
  throw new Error("a writing call was asked for where only readings are made");
}

export function readingPlatform(platform: Platform): Platform {
  return {
    orderService: readingOrders(platform.orderService),
    memberCenter: readingMembers(platform.memberCenter),
    state: () => platform.state(),
    close: async () => await platform.close(),
  };
}

function readingOrders(service: OrderService): OrderService {
  return {
    findCustomers: async (...asked) => await service.findCustomers(...asked),
    listVirtualAssets: async (...asked) => await service.listVirtualAssets(...asked),
    bindEnterprise: refuse,
    createEnterprise: refuse,
    updateEnterprise: refuse,
    placeOrders: refuse,
    lockAssets: refuse,
    unlockAssets: refuse,
    takeAssetNumbers: refuse,
  };
}

function readingMembers(service: MemberCenter): MemberCenter {
  return {
    listStaff: async (...asked) => await service.listStaff(...asked),
    listAssetNumbers: async (...asked) => await service.listAssetNumbers(...asked),
    listAssetContents: async (...asked) => await service.listAssetContents(...asked),
    listBorrowedLocks: async (...asked) => await service.listBorrowedLocks(...asked),
    addStaff: refuse,
    editStaff: refuse,
    resetPassword: refuse,
    deleteStaff: refuse,
    configureAssets: refuse,
    borrow: refuse,
  };
}
