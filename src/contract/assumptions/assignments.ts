import { z } from "zod";
import { licenseType } from "./fields.ts";
import { row } from "./row.ts";

/** What holds for assets that staff hold, and for what shows them (M5–M9). */
export const assignments = row({
  id: "A33",
  kind: "assumption",
  question: "Order and atomicity of M9",
  default: "Revokes first, then grants, read in between; after 60024, 60026 and 60028 the program reads the state",
  decidedBy: "fixed",
  settings: {},
})
  .row({
    id: "A34",
    kind: "assumption",
    question: "M5 and M6 disagree about who holds a number",
    default: "Reported and not acted on",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A35",
    kind: "assumption",
    question: "Moving a number from one staff member to another",
    default: "Two steps; after a crash between them the next run completes the second",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A43",
    kind: "assumption",
    question: "Licence types that M6 shows",
    default:
      "Learned: a type it never showed is not observable, never missing; nor " +
      "does an asset without anything in it prove that an order is missing",
    decidedBy: ["visibleLicenseTypes", "emptyAssets"],
    settings: {
      visibleLicenseTypes: z
        .array(licenseType)
        .optional()
        .describe("Licence types that M6 shows, where that is known; else it is learned from what M6 has shown (A43)"),
      emptyAssets: z
        .enum(["ambiguous", "empty"])
        .default("ambiguous")
        .describe(
          "What an asset means in which M7 shows neither products nor " +
            "packages: ambiguous, so that an order may be there, or empty (A43)",
        ),
    },
  });
