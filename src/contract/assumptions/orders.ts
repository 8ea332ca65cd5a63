import { z } from "zod";
import { licenseTypes, syncModes } from "../vocabulary.ts";
import { template } from "./fields.ts";
import { row } from "./row.ts";

/** What holds for calls of E5 and the records in them. */
export const orders = row({
  id: "A15",
  kind: "assumption",
  question: "How the result of an asynchronous E5 comes",
  default: "Orders are placed synchronously; asynchronous ones count once M6 or E8, and M7, show them",
  decidedBy: ["syncMode"],
  settings: {
    syncMode: z
      .enum(syncModes)
      .default("sync")
      .describe(
        "Processing mode of E5; async: it counts once M6 or E8, and M7, show it, within settle.asyncDeadlineMs (A15)",
      ),
  },
})
  .row({
    id: "A16",
    kind: "assumption",
    question: "Partial batches, their size, and a channelOrderId that is repeated",
    default: "One CRM order is one call with all its licence groups and is never split",
    decidedBy: ["channelOrderIdTemplate", "amendmentOrderIdTemplate"],
    settings: {
      channelOrderIdTemplate: template("id", ["namespace"])
        .default("{id}")
        .describe("How the channel order number is made from the id and namespace of an order (A16)"),
      amendmentOrderIdTemplate: template("n", ["order", "id", "namespace"])
        .default("{order}-{n}")
        .describe(
          "How the channel order number of an amendment is made from the order's own, its id and namespace, and how " +
            "many amendments there were (A16)",
        ),
    },
  })
  .row({
    id: "A17",
    kind: "assumption",
    question: "Number of the first order record",
    default: "1",
    decidedBy: ["sequenceBase"],
    settings: {
      sequenceBase: z.int().min(0).default(1).describe("Number of the first order record in an E5 call (A17)"),
    },
  })
  .row({
    id: "A18",
    kind: "choice",
    question: "What delete orders may leave out",
    default: "Everything that the contract does not list for them",
    decidedBy: ["deleteShape"],
    settings: {
      deleteShape: z
        .enum(["listed", "full"])
        .default("listed")
        .describe(
          "Whether delete orders hold the fields that the contract lists for them, or all fields of an order (A18)",
        ),
    },
  })
  .row({
    id: "A19",
    kind: "assumption",
    question: "Which values are cloud authorization types",
    default: "cloud_account, cloud_customer and cloud_personal",
    decidedBy: ["cloudTypes"],
    settings: {
      cloudTypes: z
        .array(z.enum(licenseTypes))
        .default(["cloud_account", "cloud_customer", "cloud_personal"])
        .describe("Licence types of which a delete order has to name its licence order (A19)"),
    },
  })
  .row({
    id: "A39",
    kind: "assumption",
    question: "srcLicenseOrderId on a new purchase of a cloud type",
    default: "Left out; blocked if the service answers 13004",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A42",
    kind: "assumption",
    question: "Deleting a product that is part of a package",
    default: "Held for a person",
    decidedBy: "fixed",
    settings: {},
  });
