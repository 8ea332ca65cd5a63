import { z } from "zod";
import { row } from "./row.ts";
import { licenseType, template } from "./fields.ts";

const customerSelector = z.enum(["default", "non-default"]);

/** What holds for enterprises and their customers (E1–E4). */
export const enterprises = row({
  id: "A9",
  kind: "assumption",
  question: "Channel code of a customer that E2 created",
  default: "The own channel code and the further ones are searched",
  decidedBy: ["channelCode"],
  settings: {
    channelCode: z
      .string()
      .min(1)
      .optional()
      .meta({
        description: "Channel code of orders and of bound customers; E3 is searched for it (A9)",
        examples: ["CRM"],
      }),
    otherChannelCodes: z
      .array(z.string().min(1))
      .default([])
      .meta({
        description: "Further channel codes under which E3 looks for a customer, such as the one that E2 gives (A9)",
        examples: [["PORTAL"]],
      }),
  },
  needs: [
    {
      key: "channelCode",
      endpoints: ["E1", "E3", "E5"],
      choices: ["the channel code under which the platform knows your customers"],
    },
  ],
})
  .row({
    id: "A8",
    kind: "assumption",
    question: "How crmCustomerId and channelCustomerId belong together",
    default: "They are equal; confirmed once E3 has shown an enterprise that E2 created",
    decidedBy: ["channelCustomerIdTemplate"],
    settings: {
      crmCustomerIdTemplate: template("id", ["namespace"])
        .default("{id}")
        .describe("How the CRM customer number of E2, E4 and E5 is made from the id and namespace of a customer (A8)"),
      channelCustomerIdTemplate: template("id", ["namespace"])
        .default("{id}")
        .describe(
          "How the channel customer number of E1, E3 and E5 is made from the id and namespace of a customer (A8)",
        ),
    },
  })
  .row({
    id: "A10",
    kind: "assumption",
    question: "Whether E1 and E2 may be repeated",
    default: "They may not: E3 is read first, and one intent at a time is written down per customer",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A13",
    kind: "assumption",
    question: "How E3 answers if there is no enterprise",
    default: "An empty list; null or no data is ambiguous, and nothing is made on it; 13004 is an error",
    decidedBy: ["nullEnterprises"],
    settings: {
      nullEnterprises: z
        .enum(["ambiguous", "none"])
        .default("ambiguous")
        .describe("What null or no data in E3 means: ambiguous (crm-sync creates nothing), or no enterprise (A13)"),
    },
  })
  .row({
    id: "A11",
    kind: "choice",
    question: "Whether an enterprise is created by E2 or bound by E1",
    default: "Created by E2; one that E1 bound gets no E4",
    decidedBy: ["enterpriseCreation", "boundEnterpriseUpdate"],
    settings: {
      enterpriseCreation: z
        .enum(["E2", "E1"])
        .default("E2")
        .describe("E2 creates an enterprise with its customers; E1 binds a customer to an enterprise (A11)"),
      boundEnterpriseUpdate: z
        .enum(["never", "send"])
        .default("never")
        .describe(
          "Whether a customer that E1 bound gets an E4 when its name, branch or " +
            "address changes; the contract names E4 for customers of E2 only (A11)",
        ),
    },
  })
  .row({
    id: "A12",
    kind: "assumption",
    question: "Which customer of an enterprise takes an order",
    default: "The default one; without exactly one hit the order is blocked",
    decidedBy: ["customerSelection"],
    settings: {
      customerSelection: z
        .strictObject({
          default: customerSelector
            .default("default")
            .describe("Which one takes orders of the licence types not named below"),
          byLicenseType: z
            .partialRecord(licenseType, customerSelector)
            .default({})
            .meta({ description: "Which one, by licence type", examples: [{ cloud_account: "non-default" }] }),
        })
        .prefault({})
        .describe(
          "Which customer of an enterprise takes an order, by licence type; not exactly one hit blocks the order (A12)",
        ),
    },
  })
  .row({
    id: "A14",
    kind: "assumption",
    question: "What E4 does with an empty address, which nothing reads back",
    default:
      "The address is left out; drift compares with the last acknowledged value, and the field is shown as " +
      "not observable",
    decidedBy: ["emptyAddress"],
    settings: {
      emptyAddress: z
        .enum(["omit", "empty"])
        .default("omit")
        .describe("Whether E4 leaves an address that the CRM no longer has out, or sends an empty one (A14)"),
    },
  });
