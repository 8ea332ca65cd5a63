import type { MemberCenter } from "./member-center/member-center.ts";
import type { OrderService } from "./order-service/order-service.ts";
import type { Platform } from "./platform.ts";

/** A fault of the program: what only reads has asked for a writing call. Nothing is sent. */
function refuse(): never {
  throw new Error("a writing call was asked for where only readings are made");
}

/** The same services without their writing calls. */
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
