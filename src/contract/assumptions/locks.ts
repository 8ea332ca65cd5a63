import { z } from "zod";
import { row } from "./row.ts";

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
