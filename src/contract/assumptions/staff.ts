import { z } from "zod";
import { row } from "./row.ts";
import { licenseType } from "./fields.ts";

/** What holds for staff (M1–M5). */
export const staff = row({
  id: "A27",
  kind: "assumption",
  question: "First page, page size and stability of M5",
  default: "Page 1, 50 rows; rows, total and distinct ids must agree, or nothing is removed",
  decidedBy: ["staffPage"],
  settings: {
    staffPage: z
      .strictObject({
        base: z.int().min(0).max(1).default(1).describe("Number of the first page"),
        size: z.int().min(1).max(1000).default(50).describe("Rows to a page"),
      })
      .prefault({})
      .describe("Number of the first page and rows per page of M5 (A27)"),
  },
})
  .row({
    id: "A28",
    kind: "assumption",
    question: "How M5 matches its keyword",
    default: "The keyword is not used; names are compared bare and with the code; two hits block",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A29",
    kind: "assumption",
    question: "The enterprise code, which no operation returns",
    default: "Learned from added staff; until then 20 characters are assumed",
    decidedBy: ["enterpriseCodeMaxLength"],
    settings: {
      enterpriseCodeMaxLength: z
        .int()
        .min(0)
        .max(62)
        .default(20)
        .describe("Length assumed for an enterprise code that is not known yet (A29)"),
    },
  })
  .row({
    id: "A30",
    kind: "choice",
    question: "Length and delivery of passwords",
    default: "Generated and sealed; without a key for sealing M1 is blocked",
    decidedBy: ["passwordSource"],
    settings: {
      passwordSource: z
        .enum(["generate", "crm"])
        .default("generate")
        .describe("Where initial passwords of staff come from (A30)"),
      generatedPasswordLength: z.int().min(8).max(64).default(16).describe("Length of generated passwords (A30)"),
    },
  })
  .row({
    id: "A31",
    kind: "assumption",
    question: "Whether the limits of 30 and 200 count characters or bytes",
    default: "Characters; nothing is cut to fit",
    decidedBy: ["lengthUnit"],
    settings: {
      lengthUnit: z
        .enum(["characters", "bytes"])
        .default("characters")
        .describe("Whether the limits of 30 and 200 count characters, code units or bytes (A31)"),
    },
  })
  .row({
    id: "A32",
    kind: "choice",
    question: "Department of staff: optional, yet there is an error for an empty one",
    default: "Left out where the CRM has none",
    decidedBy: ["defaultDepartmentId"],
    settings: {
      defaultDepartmentId: z
        .string()
        .regex(/^\d+$/)
        .optional()
        .meta({
          description: "Department of staff for whom the CRM names none; needed where the service answers 40009 (A32)",
          examples: ["100"],
        }),
    },
  })
  .row({
    id: "A36",
    kind: "assumption",
    question: "Staff rows marked as deleted, and 60002 on M4",
    default: "Absent; done already",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A41",
    kind: "assumption",
    question: "Whether M2 clears fields that are left out, and which account name it wants",
    default: "All known fields are sent, with the bare name",
    decidedBy: ["clearedStaffFields", "leftOutStaffFields"],
    settings: {
      clearedStaffFields: z
        .enum(["omit", "empty"])
        .default("omit")
        .describe("What M2 is sent for a note or mobile number that the CRM no longer has (A41)"),
      leftOutStaffFields: z
        .enum(["unknown", "kept"])
        .default("unknown")
        .describe(
          "Whether M2 keeps a note or mobile number that is left out; while it is unknown, M2 is not sent where the " +
            "platform shows one that the CRM never gave (A41)",
        ),
    },
  });

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
