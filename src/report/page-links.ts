import type { RecordKey, Stream } from "../crm/model.ts";

/**
 * Where each thing is shown in the browser: the one place that the paths of pages are put together in. Every part that
 * comes from a record is encoded, so that an id with a slash, a question mark or a blank in it leads nowhere else.
 */
export const pagePath = {
  today: () => "/today",
  pause: () => "/pause",
  customer: (namespace: string, id: string) => path("customer", namespace, id),
  order: (namespace: string, id: string) => path("order", namespace, id),
  person: (namespace: string, id: string) => path("person", namespace, id),
  search: (text: string) => `/search?q=${encodeURIComponent(text.toWellFormed())}`,
  quarantine: (id: string) => path("quarantine", id),
  hold: (id: string) => path("hold", id),
  settle: (id: string) => path("settle", id),
  source: (name: string) => path("source", name),
  run: (id: string) => path("run", id),
  audit: (sequence: number) => path("audit", String(sequence)),
  report: (period: string) => path("reports", period),
} as const;

function path(page: string, ...parts: readonly string[]): string {
  return `/${[page, ...parts.map(segment)].join("/")}`;
}

/**
 * A part of a path. Dots alone would be taken for a step upwards, also encoded: a `~` stands before them, and before
 * what begins with one.
 */
function segment(text: string): string {
  return encodeURIComponent((/^(?:~|\.{1,2}$)/u.test(text) ? `~${text}` : text).toWellFormed());
}

/** The page of a record. */
export function recordPath(stream: Stream, { namespace, id }: RecordKey): string {
  const page = { customers: pagePath.customer, orders: pagePath.order, staff: pagePath.person }[stream];
  return page(namespace, id);
}

/** The page of what an audit entry is about; undefined where nothing shows it. */
export function subjectPath(subject: string): string | undefined {
  const [, kind = "", rest = ""] = /^([a-z-]+):(.+)$/su.exec(subject) ?? [];
  if (kind === "run") return pagePath.run(rest);
  if (kind === "quarantine") return pagePath.quarantine(rest);
  if (kind === "period") return pagePath.report(rest);
  if (kind === "assumption") return "/assumptions";
  const page = Object.entries({ customer: pagePath.customer, order: pagePath.order, staff: pagePath.person }).find(
    ([name]) => name === kind,
  );
  const at = rest.indexOf("/");
  return page === undefined || at < 1 ? undefined : page[1](rest.slice(0, at), rest.slice(at + 1));
}

/** The id that a part of a path stands for, once it is decoded. */
export function idOfSegment(decoded: string): string {
  return decoded.startsWith("~") ? decoded.slice(1) : decoded;
}

/** The address of a page for people, below the address that the pages are reached at from outside. */
export function pageLink(publicUrl: string, page: string): string {
  return `${publicUrl.replace(/\/+$/u, "")}${page}`;
}
