import type { Json } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import type { SourceItem } from "../reader.ts";
import type { HttpListSettings, SinceSettings } from "./http-source-settings.ts";
import type { PagePosition } from "./paging.ts";
import type { Placement } from "./placement.ts";
import type { PageAnswer } from "./request.ts";
import { valueIn } from "./path-of.ts";

/** The number of all records, where an answer says it; some services say it on the first page only. */
export function totalOf(
  { total, totalHeader }: { total?: string | undefined; totalHeader?: string | undefined },
  page: { document: Json; answer: PageAnswer },
): number | undefined {
  if (total === undefined && totalHeader === undefined) return undefined;
  const found: Json | undefined =
    totalHeader === undefined ? valueIn(page.document, total ?? ".") : page.answer.headers[totalHeader.toLowerCase()];
  const number = typeof found === "string" && /^\d{1,15}$/.test(found) ? Number(found) : found;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** What a service says of a page that it does not know any more: then an earlier position leads nowhere. */
export const forgotten: ReadonlySet<string> = new Set(["source.refused", "source.error-answer"]);

/** HTTP statuses with which a service says that there is no such page, where none is expected. */
export function beyondList(isTotalKnown: boolean): readonly number[] {
  return isTotalKnown ? [400, 404, 410, 416] : [404, 410, 416];
}

/** The list has ended: the service has no page where none is expected. */
export function isNoPage({ position }: { position: PagePosition }, problem: Problem): boolean {
  return position.beyond !== undefined && problem.code === "source.not-found";
}

export function* batches(items: SourceItem[], size: number): Generator<SourceItem[], void, void> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The parameters of paging and of changes that a list has at a place of its requests. */
export function ownParameters(
  { paging, parametersIn, since }: HttpListSettings & { since?: SinceSettings | undefined },
  place: Placement["in"],
): string[] {
  const ofPaging = [
    "parameter" in paging ? paging.parameter : undefined,
    "sizeParameter" in paging ? paging.sizeParameter : undefined,
  ].filter((parameter) => parameter !== undefined);
  return [...(parametersIn === place ? ofPaging : []), ...(since?.in === place ? [since.parameter].flat() : [])];
}
