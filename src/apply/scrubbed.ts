import { redact, scrub } from "../http/redaction.ts";
import type { Json } from "../base/canonical-json.ts";
import type { Prepared } from "../operation/kind.ts";
import type { Shapes } from "../operation/shape.ts";

type Sent = Awaited<ReturnType<Prepared<Shapes>["send"]>>;

/**
 * What a call came to, without anything private that is known of its customer, whatever the service wrote there: of the
 * customer and of all its staff (`textsOfCustomer`), not only of those whom the call was about. What was sent is taken
 * out by http already.
 */
export function scrubbed(textsOfCustomer: () => string[], wire: Json, sent: Sent): Sent {
  const { outcome } = sent;
  if (outcome.kind === "not-sent") return sent;
  const values = outcome.kind === "done" ? [] : textsOfCustomer();
  const conclude = (id: string): ReturnType<Sent["conclude"]> => {
    const concluded = sent.conclude(id);
    if (!("refused" in concluded) || concluded.refused.length === 0) return concluded;
    const known = [...values, ...textsOf(wire)];
    const refused = concluded.refused.map((item) => ({ ...item, message: scrub(item.message, known) }));
    return { ...concluded, refused };
  };
  if (outcome.kind === "done") return { outcome, conclude };
  const raw = "raw" in outcome && outcome.raw !== undefined ? { raw: redact(outcome.raw, values) } : {};
  const said = outcome.kind === "rejected" ? { message: scrub(outcome.message, values) } : {};
  const why = outcome.kind === "unknown" ? { reason: scrub(outcome.reason, values) } : {};
  // Nobody holds a service to the codes of its contract.
  const code = "code" in outcome && outcome.code !== undefined ? { code: scrub(outcome.code, values) } : {};
  return { outcome: { ...outcome, ...raw, ...said, ...why, ...code }, conclude };
}

/** Every text of a wire payload, longest first: what a refusal in the service's words must not repeat. */
export function textsOf(value: Json): string[] {
  const texts: string[] = [];
  const visit = (item: Json | undefined): void => {
    if (typeof item === "string" && item.length > 2) texts.push(item);
    else if (Array.isArray(item)) item.forEach(visit);
    else if (typeof item === "object" && item !== null) Object.values(item).forEach(visit);
  };
  visit(value);
  return texts.sort((left, right) => right.length - left.length);
}
