import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { Sqlite } from "../database/database.ts";
import { stored } from "../database/stored.ts";
import type { FullRow } from "../tables.ts";
import { replacing } from "./erased-texts.ts";

/** What is kept in the private table under a name. */
export type Kept = FullRow<"private_value", "ref" | "version">;

/**
 * Something that is kept and may repeat what is of somebody else: a raw form, an answer of a service, or the values of a
 * customer as they were. `own`: the values of the record itself, which are its own whoever else has the same.
 */
type KeptOfOthers = Kept & { body: string; own: string | null };

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
export function mentionsOf(database: Sqlite, texts: ReadonlySet<string>): Kept[] {
  if (texts.size === 0) return [];
  const each = [...texts].map((text) => replacing([text]));
  const all = replacing([...texts]);
  const found: Kept[] = [];
  for (const { ref, version, body, own } of database.prepare<[], KeptOfOthers>(ofOthers).iterate()) {
    if (all(body) === body) continue;
    const isOthers = each.some((one) => one(body) !== body && (own === null || one(own) === own));
    if (isOthers) found.push({ ref, version });
  }
  return found;
}

const ofOthers = `
  select p.ref, p.version, p.body, o.body as own from private_value p left join private_value o
    on p.ref > 'raw:' and p.ref < 'raw;' and o.ref = substr(p.ref, 5) and o.version = p.version
  where p.body is not null and (p.ref > 'raw:' and p.ref < 'raw;' or p.ref > 'answer/' and p.ref < 'answer0'
    or p.ref > 'quarantine/' and p.ref < 'quarantine0')
  union all
  select p.ref, p.version, p.body, null as own from record r join private_value p
    on p.ref = 'customers/' || r.namespace || '/' || r.id and p.version < r.version
  where r.stream = 'customers' and p.body is not null`;
