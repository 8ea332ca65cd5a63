import { z } from "zod";

export const identifier = z.string().min(1).max(200);
/** Without a slash, so that a written key (`crm/10248`) names one record and no other, whatever the id holds. */
export const namespace = identifier.regex(/^[^/]+$/);
export const text = z.string().min(1);
/** An instant in UTC, ISO 8601 with `Z`. */
export const instant = z.iso.datetime({ offset: false });

export const keyFields = {
  namespace: namespace.default("crm").describe("Names the CRM that gave the id; with the id it is the record's key."),
  id: identifier.describe(
    "The id that the CRM gave the record. It is never erased: of a login, an e-mail address or a phone number give the `hash`.",
  ),
};

export const customerReference = {
  customerId: identifier.describe("The CRM's id of the customer."),
  customerNamespace: namespace.optional().describe("Namespace of the customer, where it is not the record's own."),
};
