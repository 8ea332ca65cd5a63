/**
 * Points that the contracts leave open and no setting varies. The sandbox takes the reading that hurts a careless caller most.
 * - E1, E2 (A10): the same call twice makes two enterprises. E2: both customers have the sent number (A8).
 * - E4 (A14): a missing address stays, an empty one is cleared. The name in E3 never changes.
 * - E5 (A16): all or nothing. A repeated channelOrderId places the orders again. Asynchronous calls are checked at
 * once (A15). Unknown fields and empty required texts are rejected.
 * - E5 delete_*: an empty srcLicenseOrderId reaches all orders of the customer. Finding nothing is 13004. A package
 * ends with its last product (A42), an asset with its last order.
 * - E6, E7 (A26): a lock in the wanted state answers 1, a lent one 3.
 * - M1: a wrong field rejects the call; a taken userName fails alone (60027); no enterprise is 40006. M2 takes userName
 * with and without the code (A41). M4: the name is free again, then 60002 (A36).
 * - M5 (A27): pages start at 1. M6 (A43): every live asset. M7: ids under an asset are texts, in packages numbers.
 * - M9 (A33): all or nothing. M10: a lent asset is 33007, even for the same lock.
 * - A bad token is HTTP 401, 60000 or 60005; a reused nonce is 13004 or 70001 (A2).
 */

/** E8 lists these types, and a deletion must name their source order (A19). */
export const cloudTypes: readonly string[] = ["cloud_account", "cloud_customer", "cloud_personal"];

/** E6 and E7 accept these locks: re-issuable and large-customer ones. */
export const lockableTypes: readonly string[] = [
  "normal_recover_usbkey",
  "normal_recover_lan_usbkey",
  "lk_product_usbkey",
  "lk_auth_usbkey",
];
