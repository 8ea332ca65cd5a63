import { z } from "zod";
import { costSchema } from "../measure.ts";
import { phases } from "./phases.ts";

/** What one phase cost at one size. */
const phaseSchema = costSchema.extend({
  phase: z.enum(phases),
  /** Calls to the services, by endpoint. */
  calls: z.record(z.string(), z.int()),
  /** Operations that were done. */
  done: z.int(),
  /** Bytes of the ledger's files afterwards. */
  ledgerBytes: z.int(),
});

/** Everything that was measured at one size. */
export const scaledSchema = z.object({
  customers: z.int(),
  orders: z.int(),
  /** Rows of history that were in the ledger before the first run. */
  history: z.int(),
  phases: z.array(phaseSchema),
});
export type PhaseTaken = z.infer<typeof phaseSchema>;
export type Scaled = z.infer<typeof scaledSchema>;
