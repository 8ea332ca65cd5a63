import type { Json } from "../base/canonical-json.ts";
import { toldWords } from "../base/told-words.ts";
import { redact, scrub } from "../http/redaction.ts";
import type { Prepared } from "../operation/kind.ts";
import type { Shapes } from "../operation/shape.ts";

type Sent = Awaited<ReturnType<Prepared<Shapes>["send"]>>;

/**
 * What a call came to, without anything private that is known of its customer, whatever the service wrote there: of the
 * customer and of all its staff (`textsOfCustomer`), not only of those whom the call was about. What was sent is taken
 * out by http already. Of what the service says of people whom it refused, only what surely is of no person stays.
 */
export function scrubbed(textsOfCustomer: () => string[], wire: Json, sent: Sent): Sent {
  const { outcome } = sent;
  if (outcome.kind === "not-sent") return sent;
  const values = outcome.kind === "done" ? [] : textsOfCustomer();
  const conclude = (id: string): ReturnType<Sent["conclude"]> => {
    const concluded = sent.conclude(id);
    if (!("refused" in concluded) || concluded.refused.length === 0) return concluded;
    const ours = namesIn(wire);
    const refused = concluded.refused.map((item) => ({ ...item, message: toldWords(item.message, ours) }));
    return { ...concluded, refused };
  };
  if (outcome.kind === "done") return { outcome, conclude };
  const raw = "raw" in outcome && outcome.raw !== undefined ? { raw: redact(outcome.raw, values) } : {};
  const why = outcome.kind === "unknown" ? { reason: scrub(outcome.reason, values) } : {};
  return { outcome: { ...outcome, ...raw, ...why }, conclude };
}

/** The names of fields of a wire payload: what a refusal in the service's words may repeat. */
export function namesIn(value: Json): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (item: Json | undefined): void => {
    if (Array.isArray(item)) item.forEach(visit);
    else if (typeof item === "object" && item !== null)
      for (const [name, member] of Object.entries(item)) {
        names.add(name);
        visit(member);
      }
  };
  visit(value);
  return names;
}
