import { redact, scrub } from "../http/redaction.ts";
import type { RecordKey } from "../crm/model.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import type { Prepared } from "./prepare.ts";

type Sent = Awaited<ReturnType<Prepared["send"]>>;

/**
 * What a call came to, without anything private that is known of its customer, whatever the service wrote there: of the customer and of all its
 * staff, not only of those whom the call was about. What was sent is taken out by http already.
 */
export async function scrubbed(
  { ledger }: Pick<ApplyDependencies, "ledger">,
  customer: RecordKey,
  sent: Sent,
): Promise<Sent> {
  const { outcome } = sent;
  if (outcome.kind === "done" || outcome.kind === "not-sent") return sent;
  const values = [...(await ledger.load(customer)).privateValues.values()];
  const raw = "raw" in outcome && outcome.raw !== undefined ? { raw: redact(outcome.raw, values) } : {};
  const said = outcome.kind === "rejected" ? { message: scrub(outcome.message, values) } : {};
  const conclude = (id: string): ReturnType<Sent["conclude"]> => {
    const concluded = sent.conclude(id);
    if (!("refused" in concluded)) return concluded;
    const refused = concluded.refused.map((item) => ({ ...item, message: scrub(item.message, values) }));
    return { ...concluded, refused };
  };
  return { outcome: { ...outcome, ...raw, ...said }, conclude };
}
