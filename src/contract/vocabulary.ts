export const licenseTypes = [
  "normal_unrecover_usbkey",
  "normal_recover_usbkey",
  "normal_unrecover_lan_usbkey",
  "normal_recover_lan_usbkey",
  "identity_usbkey",
  "identity_lan_usbkey",
  "softkey",
  "lan_softkey",
  "product_entity",
  "cloud_account",
  "cloud_customer",
  "cloud_personal",
  "lk_product_usbkey",
  "lk_auth_usbkey",
] as const;
export type LicenseType = (typeof licenseTypes)[number];

export const licenseTypeMeanings = {
  normal_unrecover_usbkey: "stand-alone, lock cannot be re-issued",
  normal_recover_usbkey: "stand-alone, lock can be re-issued",
  normal_unrecover_lan_usbkey: "network, lock cannot be re-issued",
  normal_recover_lan_usbkey: "network, lock can be re-issued",
  identity_usbkey: "stand-alone identity lock",
  identity_lan_usbkey: "network identity lock",
  softkey: "stand-alone certificate",
  lan_softkey: "network certificate",
  product_entity: "product entity",
  cloud_account: "cloud account",
  cloud_customer: "enterprise cloud-account authorization",
  cloud_personal: "personal cloud-account authorization",
  lk_product_usbkey: "product lock",
  lk_auth_usbkey: "login lock",
} as const satisfies Record<LicenseType, string>;

export const customerTypes = ["personal", "company"] as const;

export const syncModes = ["sync", "async"] as const;

/** Result of E6 and E7 for one lock. 2: data problem, 3: retry later, 4: permanent (A26). */
export const lockStatuses = { succeeded: 1, doesNotExist: 2, failed: 3, wrongType: 4 } as const;
type LockStatus = (typeof lockStatuses)[keyof typeof lockStatuses];

export const lockStatusMeanings: Record<
  LockStatus,
  { effect: "done" | "data-problem" | "retry-later" | "permanent"; meaning: string }
> = {
  1: { effect: "done", meaning: "the operation succeeded" },
  2: { effect: "data-problem", meaning: "the lock does not exist" },
  3: { effect: "retry-later", meaning: "the operation failed" },
  4: { effect: "permanent", meaning: "the lock is of a type that cannot be disabled or enabled" },
};
