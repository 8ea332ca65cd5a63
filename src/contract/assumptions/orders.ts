import { z } from "zod";
import { syncModes } from "../vocabulary.ts";
import { template } from "./fields.ts";
import { row } from "./row.ts";

const noDeleteOrder = "no delete order is sent by this version";

/** What holds for calls of E5 and the records in them. */
export const orders = row({
  id: "A15",
  kind: "assumption",
  question: "How the result of an asynchronous E5 comes",
  default: "Orders are placed synchronously",
  decidedBy: { notBuiltYet: "syncMode: async is refused; orders are placed with sync" },
  settings: {
    syncMode: z
      .enum(syncModes)
      .refine((mode) => mode === "sync", {
        message: "async is not built yet: how its result comes is not known, use sync",
      })
      .default("sync")
      .describe("Processing mode of E5; async is not built yet (A15)"),
  },
})
  .row({
    id: "A16",
    kind: "assumption",
    question: "Partial batches, their size, and a channelOrderId that is repeated",
    default: "One CRM order is one call with all its licence groups and is never split",
    decidedBy: ["channelOrderIdTemplate"],
    settings: {
      channelOrderIdTemplate: template("id", ["namespace"])
        .default("{id}")
        .describe("How the channel order number is made from the id and namespace of an order (A16)"),
    },
    notUsedYet: { amendmentOrderIdTemplate: "changing a placed order" },
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
    decidedBy: { notBuiltYet: noDeleteOrder },
    settings: {},
    notUsedYet: { deleteShape: "delete orders" },
  })
  .row({
    id: "A19",
    kind: "assumption",
    question: "What a cloud authorization type is",
    default: "cloud_account, cloud_customer and cloud_personal",
    decidedBy: { notBuiltYet: noDeleteOrder },
    settings: {},
    notUsedYet: { cloudTypes: "delete orders" },
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
    decidedBy: { notBuiltYet: `changed and cancelled orders are shown as deferred; ${noDeleteOrder}` },
    settings: {},
  });
