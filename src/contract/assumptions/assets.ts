import { z } from "zod";
import { limits } from "../limits.ts";
import { row } from "./row.ts";
import { licenseType, template } from "./fields.ts";

const assetNumber = template("digits");

/** What holds for assets in E5: their packages, and their numbers (E9). */
export const assets = row({
  id: "A23",
  kind: "assumption",
  question: "Whether the products of a package are repeated in the products of the asset",
  default: "They are not; an asset that holds packages only is blocked",
  decidedBy: ["packageProducts", "packageOnly"],
  settings: {
    packageProducts: z
      .enum(["separate", "repeat"])
      .default("separate")
      .describe(
        "Whether the products of a package are listed in the package only, or in the products of the asset too (A23)",
      ),
    packageOnly: z
      .enum(["block", "repeat"])
      .default("block")
      .describe(
        "What becomes of an asset that holds packages only: blocked, " +
          "or its products repeated, which may grant twice (A23)",
      ),
    packageOnlyParent: z
      .enum(["package", "asset"])
      .optional()
      .describe("Parent of a repeated product: its package or the asset instance (A23)"),
  },
  needs: [
    {
      key: "packageOnlyParent",
      endpoints: ["E5"],
      use: "repeated-product",
      unless: { packageOnly: "block", packageProducts: "separate" },
      choices: ["package", "asset"],
    },
  ],
})
  .row({
    id: "A24",
    kind: "assumption",
    question: "Parents of a package directly under an asset",
    default: "Its parent instance is the asset's CRM instance; its parent number has no default",
    decidedBy: ["rootParentMerchandiseNum"],
    settings: {
      rootParentMerchandiseNum: z
        .string()
        .optional()
        .meta({
          description: "parentMerchandiseNum of a package that stands directly under an asset (A24)",
          examples: [""],
        }),
    },
    needs: [
      {
        key: "rootParentMerchandiseNum",
        endpoints: ["E5"],
        use: "package",
        choices: ["the parent number that the platform expects on a package directly under an asset"],
      },
    ],
  })
  .row({
    id: "A25",
    kind: "assumption",
    question: "Whether an asset number is a prefix and the digits of E9, and how many come at once",
    default: "The digits alone, 100 a call, starting with 8 or 6; unused ones are kept",
    decidedBy: ["assetNumberTemplates"],
    settings: {
      assetNumberTemplates: z
        .strictObject({
          default: assetNumber.default("{digits}").describe("For the licence types not named below; holds {digits}"),
          byLicenseType: z
            .partialRecord(licenseType, assetNumber)
            .default({})
            .meta({ description: "By licence type", examples: [{ softkey: "S{digits}" }] }),
        })
        .prefault({})
        .describe("How an asset number is made from the digits of E9, by licence type (A25)"),
      poolBatch: z
        .int()
        .min(1)
        .max(limits.assetNumbersPerCall)
        .default(limits.assetNumbersPerCall)
        .describe("Numbers taken from E9 at once (A25)"),
      assetFirstDigits: z
        .array(z.string().regex(/^\d$/))
        .min(1)
        .default([...limits.assetFirstDigits])
        .describe("First digits that E9 may hand out; any other one stops the pool (A25)"),
    },
  });

/** What holds for disabling and enabling locks (E6, E7). */
export const locks = row({
  id: "A26",
  kind: "assumption",
  question: "Locking or unlocking a lock twice",
  default: "Does no harm; the status of every lock is kept: 2 is a data problem, 3 is tried later, 4 is permanent",
  decidedBy: "fixed",
  settings: {},
}).row({
  id: "A40",
  kind: "choice",
  question: "operatorIdentity of E6 and E7",
  default: "None: the name of a role is needed",
  decidedBy: ["operatorIdentity"],
  settings: {
    operatorIdentity: z
      .string()
      .min(1)
      .max(60)
      .regex(/^[^@]*\p{L}[^@]*$/u, {
        error: "expected the name of a role, not a mobile number or an e-mail address",
      })
      .optional()
      .meta({
        description:
          "Role that disables and enables locks, as E6 and E7 say it; never a mobile number or an e-mail address (A40)",
        examples: ["licence desk"],
      }),
  },
  needs: [
    {
      key: "operatorIdentity",
      endpoints: ["E6", "E7"],
      choices: [
        "the name of the role that asks for it, such as licence desk; never a mobile number or an e-mail address",
      ],
    },
  ],
});
