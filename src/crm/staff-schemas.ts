import { z } from "zod";
import { customerReference, identifier, keyFields, sortedClaims, text } from "./order-schemas.ts";

const assetClaimSchema = z.union([
  z.strictObject({ assetNumber: identifier.describe("The number of the asset.") }),
  z.strictObject({ instanceId: identifier.describe("The CRM's id of the asset instance that an order brought.") }),
]);

const borrowSchema = z.strictObject({
  lock: identifier.describe("The number of the lock that is lent to the person."),
  assets: z
    .array(assetClaimSchema)
    .overwrite(sortedClaims)
    .describe("The assets of the person that go into it, by number or by the instance of an order."),
});

export const staffSchema = z.strictObject({
  ...keyFields,
  ...customerReference,
  userName: text.describe("Account name: letters and digits."),
  name: text.describe("Name of the person."),
  remark: text.optional().describe("Remark on the person."),
  departmentId: z.string().regex(/^\d+$/).optional().describe("Department on the platform: digits."),
  mobile: text
    .optional()
    .describe("Mobile of the person: + and digits, such as `+493012345678`. The operator `phone` makes it."),
  password: text.optional().describe("Initial password, where `assumptions.passwordSource` is `crm` (A30). A secret."),
  assets: z
    .array(assetClaimSchema)
    .overwrite(sortedClaims)
    .default([])
    .describe("The assets that the person should hold, by number or by the instance of an order."),
  borrows: z
    .array(borrowSchema)
    .overwrite((borrows) => borrows.toSorted((one, other) => (one.lock < other.lock ? -1 : 1)))
    .optional()
    .describe("The locks that the person should have on loan. No operation returns one."),
});
export type Staff = z.infer<typeof staffSchema>;
