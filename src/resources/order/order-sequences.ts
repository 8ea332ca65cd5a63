import type { AssumptionMet } from "../../engine/assumptions-met.ts";

/**
 * What sequences other than those that were sent show (A17): as many as were sent, each once. An answer that lacks or
 * repeats one says nothing of how records are counted.
 */
export function otherSequences(
  sent: { orderList: readonly { sequence: number }[] },
  answered: readonly { sequence?: number | null | undefined }[],
): AssumptionMet[] {
  const came = new Set(answered.map((row) => row.sequence));
  const isComplete = came.size === sent.orderList.length && answered.length === sent.orderList.length;
  if (!isComplete || sent.orderList.every(({ sequence }) => came.has(sequence))) return [];
  const evidence = "E5 answered with other sequences than were sent";
  return [{ row: "A17", evidence }];
}
