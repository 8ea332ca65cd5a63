import { z } from "zod";

/** Commitments to what M1 and M2 are told of a person; null where the CRM says nothing. */
export const staffCommitments = z.object({
  userName: z.string(),
  name: z.string(),
  remark: z.string().nullable(),
  mobile: z.string().nullable(),
  departmentId: z.string().nullable(),
});
