/**
 * What the two contracts leave open and the sandbox decides. Each entry is one reading among several that the contract
 * allows; where two readings differ in harm, the sandbox takes the one that hurts a careless caller most. What a test
 * wants to vary is a setting instead.
 */
export const assumptions = {
  /** E1 and E2 (A10): not idempotent. The same call twice makes two enterprises. */
  creationIsIdempotent: false,
  /**
   * E2 (A8): the channel customer number of both customers it makes is the crmCustomerId that was sent. The channel
   * code is a setting (A9).
   */
  channelCustomerIdOfE2: "crmCustomerId",
  /**
   * E4 (A14): an address left out stays as it is, an empty one is cleared. The enterprise name that E3 shows is never
   * changed.
   */
  addressLeftOut: "kept",
  /** E5 (A16): a call is applied whole or not at all, and a repeated channelOrderId places the orders again. */
  batchIsAtomic: true,
  /**
   * E5 (A15): async checks the call and answers at once, with the licence orders or without data (setting
   * `asyncAnswer`); assets and products appear after `asyncDelayMs`.
   */
  asyncCheck: "at once",
  /** E5: a field that the contract does not name is refused, so that a misspelt optional field is seen. */
  unknownFields: "refused",
  /** E5: text that is marked required is not empty, but for parentMerchandiseNum of a root (A24) and featureValue. */
  emptyRequiredText: "refused",
  /** E5 (A20): Integer is 32 bit; Long and Date take a number or a text, kept as given. */
  integerBits: 32,
  /**
   * E5 delete_product: the mnemonic of a product is its productUri. An exact match compares productUri, both limits and
   * the nodes; the crmProductId only where the setting `strictMatch` says so.
   */
  mnemonic: "productUri",
  /**
   * E5 delete_*: an empty srcLicenseOrderId reaches every order of the customer, on every asset number, not only those
   * named.
   */
  emptySourceOrder: "all orders of the customer",
  /**
   * E5 delete_product (A42): a product inside a package is removed like any other; a package left without products goes
   * with it.
   */
  productsInPackages: "removed",
  /** E5 delete_*: a deletion that finds nothing is refused with 13004. */
  deletionOfNothing: "refused",
  /** E5 delete_asset naming an order: the asset itself goes once no product of another order is left in it. */
  assetWithOtherOrders: "kept",
  /**
   * E5 (A39): a cloud new_buy may leave the order record's srcLicenseOrderId out; a deletion of cloud types may not.
   */
  cloudNewBuyNeedsSource: false,
  /** E6, E7 (A26): a lock that is already in the wanted state answers 1; one that is lent out answers 3. */
  repeatedLock: 1,
  /** E8: extendCode keeps the assets that carry an extension of that code. */
  extendCode: "filter",
  /** E8: an asset nobody holds has an assignment record with state `unassigned` and empty texts. */
  unassigned: "record with empty texts",
  /** M1: a field that is wrong refuses the call; a userName that is taken fails alone (60027). */
  takenUserName: "fails alone",
  /** M1 with an enterprise that does not exist: 40006, since there is no code to append. */
  unknownEnterpriseInM1: "40006",
  /** M2 (A41): userName is taken with and without the enterprise code; fields left out are a setting. */
  userNameInM2: "with and without the code",
  /**
   * M4 (A36): a deleted staff member loses all assets, is answered with 60002 from then on, and the userName is free
   * again.
   */
  deletedStaff: "60002",
  /** M5 (A27): pages are counted from 1; a page larger than `maxPageSize` is cut to it. */
  pageBase: 1,
  /** M6 (A43): every live asset of the enterprise, of every authorization type. */
  typesInM6: "all",
  /**
   * M7: a limit that was not sent is shown as the setting `absentLimitTime`; products under an asset have text ids,
   * those in packages numbers.
   */
  productIds: "text under assets, numbers in packages",
  /**
   * M9 (A33): whole or not at all. Revoking what this member does not hold is 60024; assigning what anybody holds, or a
   * number named twice, is 60028.
   */
  privilegesAreAtomic: true,
  /** M10: an asset that is lent already answers 33007, also for the same lock again. */
  lentAgain: "33007",
  /**
   * Order service (A2): a bad token is HTTP 401; a reused nonce is 13004. Member-center: 60000 and 60005; a reused
   * nonce is 70001.
   */
  orderServiceBadToken: 401,
  /** Nonces are remembered in memory, at least the last 100,000 of each service. */
  noncesRemembered: 100_000,
} as const;

/** The authorization types that E8 lists and that a deletion must name the source order for (A19). */
export const cloudTypes: readonly string[] = ["cloud_account", "cloud_customer", "cloud_personal"];

/** The locks that E6 and E7 work on: re-issuable ones and large-customer locks. */
export const lockableTypes: readonly string[] = [
  "normal_recover_usbkey",
  "normal_recover_lan_usbkey",
  "lk_product_usbkey",
  "lk_auth_usbkey",
];
