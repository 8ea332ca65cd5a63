import type { RecordKey, Stream } from "../crm/model.ts";

/** Paths of pages. Parts from records are encoded, so that an id with a slash, `?` or space cannot lead elsewhere. */
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

/** Browsers resolve `.` and `..`, also encoded. A `~` before them prevents that, and a leading `~` gets another one. */
function segment(text: string): string {
  return encodeURIComponent((/^(?:~|\.{1,2}$)/u.test(text) ? `~${text}` : text).toWellFormed());
}

export function recordPath(stream: Stream, { namespace, id }: RecordKey): string {
  const page = { customers: pagePath.customer, orders: pagePath.order, staff: pagePath.person }[stream];
  return page(namespace, id);
}

/** The page for the subject of an audit entry; undefined if no page shows it. */
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

export function idOfSegment(decoded: string): string {
  return decoded.startsWith("~") ? decoded.slice(1) : decoded;
}

export function pageLink(publicUrl: string, page: string): string {
  return `${publicUrl.replace(/\/+$/u, "")}${page}`;
}
