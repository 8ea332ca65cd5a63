/**
 * What the two contracts leave open and no setting varies: one reading among several that the contract allows. Where two
 * readings differ in harm, the sandbox takes the one that hurts a careless caller most.
 * - E1, E2 (A10): the same call twice makes two enterprises. Both customers of E2 have the number that was sent (A8).
 * - E4 (A14): an address left out stays, an empty one is cleared; the name that E3 shows never changes.
 * - E5 (A16): whole or not at all, and a repeated channelOrderId places the orders again. An asynchronous call is checked
 *   at once (A15). Fields that the contract does not name, and empty required texts, are refused.
 * - E5 delete_*: an empty srcLicenseOrderId reaches every order of the customer, on every asset number; one that finds
 *   nothing is 13004. A package left without products goes with its last one (A42), an asset once no other order is in it.
 * - E6, E7 (A26): a lock that is in the wanted state answers 1, one that is lent out 3.
 * - M1: a wrong field refuses the call, a taken userName fails alone (60027); without an enterprise there is no code
 *   (40006). M2 takes userName with and without the code (A41). M4: the name is free again, then 60002 (A36).
 * - M5 (A27): pages count from 1. M6 (A43): every live asset of every type. M7: ids under an asset are texts, those in
 *   packages numbers. M9 (A33): whole or not at all. M10: an asset that is lent is 33007, also for the same lock.
 * - A bad token is HTTP 401, 60000 or 60005, a reused nonce 13004 or 70001 (A2).
 */

/** The authorization types that E8 lists and that a deletion must name the source order for (A19). */
export const cloudTypes: readonly string[] = ["cloud_account", "cloud_customer", "cloud_personal"];

/** The locks that E6 and E7 work on: re-issuable ones and large-customer locks. */
export const lockableTypes: readonly string[] = [
  "normal_recover_usbkey",
  "normal_recover_lan_usbkey",
  "lk_product_usbkey",
  "lk_auth_usbkey",
];
