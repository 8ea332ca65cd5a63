import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import { stored } from "../database/stored.ts";
import type { FullRow } from "../tables.ts";
import { replacing } from "./erased-texts.ts";

/** What is kept in the private table under a name. */
export type Kept = FullRow<"private_value", "ref" | "version">;

/** What repeats something of somebody. `isGiven`: the values of a customer as the CRM gives them now, which stay. */
export type Mention = Kept & { isGiven: 0 | 1 };

/**
 * Something that is kept and may repeat what is of somebody else: a raw form, an answer of a service, or the values of a
 * customer. `own`: the values of the record itself, which are its own whoever else has the same.
 */
export type KeptOfOthers = Mention & { body: string; own: string | null };

/** What the audit log names a form or an answer by, where somebody was shown it. */
export function shownSubject(ref: string): string {
  return ref.replace(/^quarantine\//u, "quarantine:").replace(/^answer\//u, "operation:");
}

/** Fields whose text is no name, number or address of anybody. */
const untelling: ReadonlySet<string> = new Set(["remark"]);
/** Of several words, or with digits or signs. */
const telling = /^(?=.*[^\p{L}]).{6,}$/su;
const logins: ReadonlySet<string> = new Set(["userName", "adminAccount"]);
const shortestLogin = 5;
/** Scripts in which a name is two or three letters long. */
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2,}$/u;

/** The texts of private values that mean this person or customer and hardly anything else, wherever they stand. */
export function tellingTexts(bodies: readonly string[]): Set<string> {
  const texts = new Set<string>();
  for (const body of bodies) {
    const values = stored<Json>(body);
    for (const [field, value] of Object.entries(isJsonObject(values) ? values : {})) {
      if (typeof value !== "string" || untelling.has(field)) continue;
      const text = value.trim();
      const isLogin = logins.has(field) && text.length >= shortestLogin;
      if (isLogin || telling.test(text) || unspaced.test(text)) texts.add(text);
    }
  }
  return texts;
}

/**
 * Raw forms, answers of services and former values of customers that repeat any of these texts, in whatever spelling,
 * where the record itself has no such value.
 */
export function mentionsIn(rows: Iterable<KeptOfOthers>, texts: ReadonlySet<string>): Mention[] {
  if (texts.size === 0) return [];
  const each = [...texts].map((text) => replacing([text]));
  const all = replacing([...texts]);
  const found: Mention[] = [];
  for (const { ref, version, body, own, isGiven } of rows) {
    if (all(body) === body) continue;
    const isOthers = each.some((one) => one(body) !== body && (own === null || one(own) === own));
    if (isOthers) found.push({ ref, version, isGiven });
  }
  return found;
}

/**
 * A statement that gives every `KeptOfOthers`. What a customer had as its administrator before is of that person and not
 * its own any more.
 */
export const keptOfOthers = `
  select p.ref, p.version, p.body, iif(p.ref > 'raw:customers/' and p.ref < 'raw:customers0' and exists (
      select 1 from private_value n where n.ref = o.ref and n.version > o.version), null, o.body) as own, 0 as isGiven
    from private_value p left join private_value o on o.ref = substr(p.ref, 5) and o.version = p.version
    where p.ref > 'raw:' and p.ref < 'raw;' and p.body is not null
  union all select ref, version, body, null, 0 from private_value
    where ref > 'answer/' and ref < 'answer0' and body is not null
  union all select ref, version, body, null, 0 from private_value
    where ref > 'quarantine/' and ref < 'quarantine0' and body is not null
  union all select p.ref, p.version, p.body, null, p.version = r.version and r.state <> 'absent'
    from record r cross join private_value p on p.ref = 'customers/' || r.namespace || '/' || r.id
    where r.stream = 'customers' and p.body is not null`;
