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
