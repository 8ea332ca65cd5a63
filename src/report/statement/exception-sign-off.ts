import { decimalText } from "../../crm/currency.ts";
import { formatKey } from "../../crm/keys.ts";
import { holdBlocker, outcomeBlocker, signableOf } from "../books.ts";
import type { Signable } from "../books.ts";
import { also } from "../text.ts";
import { closedCode, closedDeferral } from "./closed-words.ts";
import { exceptionRow } from "./exception-row.ts";
import { stakesOf } from "./exceptions.ts";
import type { StatedException } from "./exceptions.ts";

/**
 * What of an exception somebody signs off: a row in quarantine, a record that waits or a refusal as it stood and with
 * what is at stake; what is in doubt or held as it stands in the way of closing now, and as it did at the end of the
 * period.
 */
export function signedAs(exception: StatedException): Signable[] {
  const { facts } = exception;
  if (facts.kind === "unknown")
    return [outcomeBlocker(facts.row), outcomeBlocker({ ...facts.row, state: facts.stood })];
  if (facts.kind === "held")
    return [holdBlocker(facts.row), holdBlocker({ ...facts.row, ...facts.stood, state: "open" })];
  const accepted = acceptedAs(exception);
  return accepted === undefined ? [] : [accepted];
}

/** The id by which an exception can be signed off; null where there is nothing to sign off. */
export function signOffId(exception: StatedException): string | null {
  const { facts, ended } = exception;
  const [signable] = signedAs(exception);
  const isOpen =
    facts.kind === "unknown"
      ? ended === null
      : facts.kind === "held"
        ? facts.row.state === "open" || facts.row.state === "approved"
        : exception.open;
  return isOpen ? (signable?.id ?? null) : null;
}

/**
 * An exception that stands in the way of nothing, as a person accepts it. Its facts are what it is, why, and what is at
 * stake; no words of the CRM and of the services are among them, since these may be erased.
 */
export function acceptedAs({ facts, orders }: StatedException): Signable | undefined {
  const stakes = stakesOf({ orders }).map(({ currency, minor }) => `${decimalText(minor, currency)} ${currency}`);
  const stake = orders.map(({ key, amount }) => [
    formatKey(key),
    amount?.currency ?? null,
    String(amount?.minor ?? ""),
  ]);
  const { record, customer } = exceptionRow(facts);
  const whose = typeof customer === "string" ? { customer } : {};
  const made = (id: string, what: string, reason: Record<string, string | number | null>): Signable => ({
    ...signableOf(id, `${what}${also("; at stake: ", stakes.join(", ") || null)}`, { ...reason, stake }),
    ...whose,
  });
  switch (facts.kind) {
    case "quarantined": {
      const { id, code, field } = facts.row;
      const where = also(" in ", field || null);
      return made(`quarantined:${id}`, `${String(record)} is in quarantine: ${code}${where}`, { code, field });
    }
    case "deferred": {
      const { stream, key, since } = facts;
      const code = closedDeferral(facts.code);
      const of = [stream, key.namespace, key.id].map(plain).join("/");
      return made(`deferred:${of}:${plain(code)}`, `${String(record)} waits: ${code}`, { code, since });
    }
    case "rejected": {
      const { id, kind, endpoint, subject, outcomeCode } = facts.row;
      const code = closedCode(outcomeCode);
      const what = `${kind} (${endpoint}) of ${subject} was refused${also(": ", code)}`;
      return made(`rejected:${id}`, what, { code, count: facts.count });
    }
    default:
      return undefined;
  }
}

/** A part of an id as it can be given to a shell without quotes. */
function plain(text: string): string {
  const coded = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*~]/gu, coded);
}
